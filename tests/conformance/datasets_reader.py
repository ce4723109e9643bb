"""Reads Parquet, Arrow or JSONL.zst files with Hugging Face datasets.

Runs in an environment of its own. Usage: python datasets_reader.py FOLDER parquet|arrow|json;
prints one JSON document: rows as `read`, those of a streamed read as `streamed`, and the features.
"""

import json
import sys
import tempfile
from pathlib import Path

from datasets import load_dataset


def main() -> None:
    folder, kind = Path(sys.argv[1]), sys.argv[2]
    ending = {"parquet": "*.parquet", "arrow": "*.arrow", "json": "*.jsonl.zst"}[kind]
    paths = [str(p) for p in sorted(folder.glob(ending))]
    with tempfile.TemporaryDirectory() as cache:
        dataset = load_dataset(kind, data_files=paths, split="train", cache_dir=cache)
        streamed = load_dataset(kind, data_files=paths, split="train", streaming=True)
        report = {
            "read": [dict(row) for row in dataset],
            "streamed": [dict(row) for row in streamed],
            "features": str(dataset.features),
        }
    print(json.dumps(report, ensure_ascii=False))


if __name__ == "__main__":
    main()
