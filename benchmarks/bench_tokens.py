"""How fast documents are tokenized and written as a token part, against `tokenizers` itself.

    python benchmarks/bench_tokens.py TOKENIZER.json FILE.jsonl.zst... [--megabytes 8]

CPU seconds of one thread; MB are 10^6 bytes of UTF-8 text. "first" is the first time that a
process sees the documents, "again" the best of three more: a tokenizer remembers words. Both
include the check of documents against the reference. "part" is tokenizing, sorting by key and
writing both files. "library" is `encode_batch_fast` of `tokenizers`, on the first part of the
same documents; the ids are compared.
"""

import argparse
import hashlib
import io
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import tokenizers
import zstandard

from corpusclean.tokens.parts import TokenPartWriter
from corpusclean.tokens.tokenizers import Tokenizer, load_tokenizer


def read_texts(path: Path, size: float) -> list[str]:
    """Return the first texts of a file of JSON lines, about so many bytes of them."""
    texts = []
    with path.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file)
        for line in io.TextIOWrapper(reader, encoding="utf-8"):
            texts.append(json.loads(line)["text"])
            size -= len(texts[-1].encode())
            if size <= 0:
                break
    return texts


def seconds(work: Callable[[], object], runs: int) -> float:
    """Return the least CPU seconds of several runs."""
    taken = []
    for _ in range(runs):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def write_part(tokenizer: Tokenizer, texts: pa.Array) -> None:
    digests = [hashlib.md5(str(i).encode()).digest() for i in range(len(texts))]
    uids = pa.array(digests, pa.binary(16))
    with (
        tempfile.TemporaryDirectory() as folder,
        TokenPartWriter(f"{folder}/part", tokenizer, seed=17, append_eod=True) as writer,
    ):
        writer.add(uids, texts)


def rates(
    texts: list[str], tokenizer: Tokenizer, library: tokenizers.Tokenizer
) -> tuple[list[float], bool]:
    """Return the columns of the table for some documents, and whether the ids are equal."""
    column = pa.array(texts, pa.large_string())
    size = pc.sum(pc.binary_length(column)).as_py() / 1e6
    first = texts[: max(1, len(texts) // 8)]
    part = sum(len(text.encode()) for text in first) / 1e6
    row = [
        size,
        size / seconds(lambda: tokenizer.encode(column), 1),
        size / seconds(lambda: tokenizer.encode(column), 3),
        size / seconds(lambda: write_part(tokenizer, column), 3),
    ]
    start = time.process_time()
    found = library.encode_batch_fast(first, add_special_tokens=False)
    row.append(part / (time.process_time() - start))
    ids, offsets = tokenizer.encode(column)
    expected = [i for encoding in found for i in encoding.ids]
    return row, np.array_equal(ids[: offsets[len(first)]], expected)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizer")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--megabytes", type=float, default=8)
    options = parser.parse_args()
    library = tokenizers.Tokenizer.from_file(options.tokenizer)
    library.encode_special_tokens = True
    header = ("file", "MB", "first", "again", "part", "library", "equal")
    print(("{:28}" + "{:>10}" * 6).format(*header), "  (MB/s)")
    for path in options.files:
        tokenizer = load_tokenizer(options.tokenizer)
        row, equal = rates(read_texts(path, options.megabytes * 1e6), tokenizer, library)
        numbers = "".join(f"{rate:10.1f}" for rate in row)
        print(f"{path.name.partition('.')[0]:28}{numbers}{equal!s:>10}")
        if not tokenizer.accelerated:
            print(f"  the reference encoded: {tokenizer.why_not}")


if __name__ == "__main__":
    main()
