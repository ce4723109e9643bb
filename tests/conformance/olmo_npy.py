"""Reads .npy files as OLMo does: with numpy's memmap, and through OLMo-core where it is installed.

Usage: python olmo_npy.py FOLDER DTYPE SEQUENCE_LENGTH; prints one JSON document: the documents
that the metadata name as `read`, and, as `instances`, the instances of OLMo-core's dataset of
fixed sequence length, null without OLMo-core.
"""

import csv
import gzip
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np


def main() -> None:
    folder, dtype, length = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    documents, instances = [], None
    paths = sorted(folder.glob("*.npy"))
    for path in paths:
        ids = np.memmap(path, dtype=dtype, mode="r")
        with gzip.open(path.with_suffix(".csv.gz"), "rt", newline="") as lines:
            for start, end, *_ in csv.reader(lines):
                documents.append(ids[int(start) : int(end)].tolist())
    if importlib.util.find_spec("olmo_core"):
        instances = with_olmo_core(paths, dtype, length)
    print(json.dumps({"read": documents, "instances": instances}))


def with_olmo_core(paths: list[Path], dtype: str, length: int) -> dict:
    """Read the same files with OLMo-core: fixed-length instances, and document indices."""
    from olmo_core.data import NumpyFSLDatasetConfig, TokenizerConfig
    from olmo_core.data.utils import iter_document_indices

    tokenizer = TokenizerConfig(vocab_size=np.iinfo(dtype).max + 1, eos_token_id=7, pad_token_id=0)
    config = NumpyFSLDatasetConfig(
        paths=[str(p) for p in paths],
        sequence_length=length,
        tokenizer=tokenizer,
        work_dir=str(paths[0].parent),
    )
    dataset = config.build()
    dataset.prepare()
    return {
        "dtype": np.dtype(config.get_dtype()).name,
        "input_ids": [dataset[i]["input_ids"].tolist() for i in range(len(dataset))],
        "documents": [[list(pair) for pair in iter_document_indices(str(p))] for p in paths],
    }


if __name__ == "__main__":
    main()
