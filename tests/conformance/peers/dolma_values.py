"""What Dolma's own tagger `gopher_v1` finds in texts; run by the Python of its environment.

Reads JSON lines `{"text"}` from standard input and writes a line for each: `values`, the score of
every span by the name of its attribute.
"""

import json
import os
import sys

# Imported, Dolma tries to fetch a model that the tagger does not use, and says so.
_OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

from dolma.core.data_types import Document  # noqa: E402
from dolma.taggers.gopher import GopherTagger  # noqa: E402


def main() -> None:
    tagger = GopherTagger()
    for line in sys.stdin:
        found = tagger.predict(Document("", "", json.loads(line)["text"]))
        print(json.dumps({"values": {span.type: span.score for span in found.spans}}), file=_OUT)
    _OUT.flush()


if __name__ == "__main__":
    main()
