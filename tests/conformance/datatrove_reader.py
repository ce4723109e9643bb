"""Reads .ds files with datatrove's dataset, and writes the same documents with its own writer.

Nanotron reads through the same class. Runs in an environment of its own. Usage: python
datatrove_reader.py FOLDER ITEMSIZE SEQUENCE_LENGTH; prints one JSON document: the windows of all
files as `read`, the place of each token in its document as `positions`, and, as `written`, the
files of datatrove's TokenizedFile, in hex, for the documents of the first file.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from datatrove.pipeline.tokens.tokenizer import TokenizedFile
from datatrove.utils.dataset import DatatroveFolderDataset


def main() -> None:
    folder, itemsize, length = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    dataset = DatatroveFolderDataset(
        str(folder), length, filename_pattern="*.ds", token_size=itemsize, return_positions=True
    )
    windows = [dataset[i] for i in range(len(dataset))]
    first = sorted(folder.glob("*.ds"))[0]
    tokens = np.fromfile(first, f"<u{itemsize}")
    ends = np.fromfile(f"{first}.index", "<u8")
    with tempfile.TemporaryDirectory() as out:
        file = TokenizedFile(
            out,
            first.name,
            tokenizer_name_or_path="gpt2",
            save_final_metadata=True,
            token_size=itemsize,
        )
        for document in np.split(tokens, ends[:-1].astype(int)):
            file.write(document.tolist(), None)
        file.close()
        written = {p.name: p.read_bytes().hex() for p in sorted(Path(out).iterdir())}
    report = {
        "read": [w["input_ids"].tolist() for w in windows],
        "positions": [w["positions"].tolist() for w in windows],
        "written": written,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
