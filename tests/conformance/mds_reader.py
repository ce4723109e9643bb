"""Reads a folder with mosaicml-streaming, and writes the same samples with its own writer.

Runs in an environment of its own. Usage: python mds_reader.py FOLDER DTYPE; prints one JSON
document: the samples as `read`, and the files of MDSWriter, in hex, as `written`.
"""

import json
import sys
import tempfile
from pathlib import Path

from streaming import MDSWriter, StreamingDataset


def main() -> None:
    folder, dtype = sys.argv[1:]
    dataset = StreamingDataset(local=folder, batch_size=1, validate_hash="sha256")
    samples = [dataset[i]["tokens"] for i in range(len(dataset))]
    assert all(sample.dtype == dtype for sample in samples)
    in_order = StreamingDataset(local=folder, batch_size=1, shuffle=False)
    assert [s["tokens"].tolist() for s in in_order] == [s.tolist() for s in samples]
    with tempfile.TemporaryDirectory() as out:
        columns = {"tokens": f"ndarray:{dtype}"}
        with MDSWriter(columns=columns, out=out, hashes=["sha256"]) as writer:
            for sample in samples:
                writer.write({"tokens": sample})
        written = {p.name: p.read_bytes().hex() for p in sorted(Path(out).iterdir())}
    print(json.dumps({"read": [s.tolist() for s in samples], "written": written}))


if __name__ == "__main__":
    main()
