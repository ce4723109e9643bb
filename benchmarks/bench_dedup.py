"""How fast duplicates and benchmark n-grams are found, on one core.

    python benchmarks/bench_dedup.py FILE.jsonl[.zst] ... [--megabytes 16] [--grams 1000000]

For each file: MB (10^6 bytes of UTF-8 text) a second of CPU time, the best of five, after the
kernels are compiled. The index is filled with as many keys as asked for, of which none occurs: the
work of a corpus without contamination. The greedy kept set is timed on signatures made up in
families of five.
"""

import argparse
import io
import json
import time
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import zstandard

from corpusclean.contamination.index import BenchmarkIndex, build_index
from corpusclean.contamination.scan import find_hits
from corpusclean.dedup.bands import band_keys
from corpusclean.dedup.near import keep_greedily
from corpusclean.dedup.signatures import Signer
from corpusclean.files import open_read
from corpusclean.text.ngram_table import NgramTable
from corpusclean.text.normalise import tokens


def lines(path: str) -> Iterator[str]:
    with open_read(path) as raw:
        packed = path.endswith(".zst")
        stream = zstandard.ZstdDecompressor().stream_reader(raw) if packed else raw
        yield from io.TextIOWrapper(stream, "utf-8")


def batch(path: str, megabytes: float) -> pa.Array:
    texts: list[str] = []
    size = 0
    for line in lines(path):
        texts.append(json.loads(line)["text"])
        size += len(texts[-1].encode())
        if size > megabytes * 1e6:
            break
    return pa.array(texts, pa.large_string())


def seconds(work: Callable[[], object]) -> float:
    work()
    best = float("inf")
    for _ in range(5):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def index_of(grams: int) -> BenchmarkIndex:
    """Return an index whose lookup table holds made-up keys."""
    keys = np.unique(np.random.default_rng(1).integers(0, 2**64, grams, np.uint64))
    small = build_index({"made_up": [("1", " ".join(str(i) for i in range(13)))]})
    return BenchmarkIndex(**{**vars(small), "table": NgramTable.of(keys)})


def bench_texts(path: str, megabytes: float, index: BenchmarkIndex) -> None:
    texts = batch(path, megabytes)
    size = sum(len(text.as_py().encode()) for text in texts) / 1e6
    signer = Signer()
    stream = tokens(texts)
    rates = {
        "tokens": seconds(lambda: tokens(texts)),
        "sign": seconds(lambda: signer.sign(texts)),
        "find_hits": seconds(lambda: find_hits(texts, index)),
        "sign, tokens at hand": seconds(lambda: signer.sign(texts, stream)),
        "find_hits, tokens at hand": seconds(lambda: find_hits(texts, index, stream)),
    }
    rates["both"] = sum(rates[name] for name in list(rates) if name == "tokens" or "," in name)
    shown = "  ".join(f"{name} {size / spent:.0f}" for name, spent in rates.items())
    print(f"{path}: {len(texts)} documents, {size:.1f} MB; MB/s: {shown}")


def bench_kept_set(documents: int) -> None:
    generator = np.random.default_rng(2)
    signatures = np.repeat(
        generator.integers(0, 2**32, (documents // 5, 112), np.uint32), 5, axis=0
    )
    changed = generator.random(signatures.shape) < 0.1
    signatures[changed] = generator.integers(0, 2**32, int(changed.sum()), np.uint32)
    begin = time.process_time()
    buckets = band_keys(signatures, 14, 8).view(np.int64).ravel()
    members = np.repeat(np.arange(len(signatures)), 14)
    keep_greedily(buckets, members, signatures, 0.75)
    spent = time.process_time() - begin
    print(f"kept set of {len(signatures)} documents: {spent * 1e6 / len(signatures):.1f} us each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--megabytes", type=float, default=16)
    parser.add_argument("--grams", type=int, default=1_000_000)
    arguments = parser.parse_args()
    index = index_of(arguments.grams)
    for path in arguments.files:
        bench_texts(path, arguments.megabytes, index)
    bench_kept_set(1000)
    bench_kept_set(200_000)


if __name__ == "__main__":
    main()
