"""How fast input becomes batches: MB of JSON lines a second on one core.

Run `python benchmarks/bench_sources.py FILE.jsonl[.gz|.zst] ...`, or without files on lines that
are made up. Each rate is the best of several runs, in time of this process, of the same bytes:
reading with uids, against the standard library's `json.loads` line by line.
"""

import argparse
import gzip
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from corpusclean.sources import ColumnSpec, normalise_newlines, plan_splits, read_split, uids

COLUMNS = ColumnSpec(id="id", url="url")
RUNS = 3


def main() -> None:
    """Print a row for each file and each way of reading it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--megabytes", type=int, default=64, help="read of each file at most")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpora = {path.name: content_of(path) for path in options.files}
        for name, content in (corpora or {"made up": made_up()}).items():
            compare(name, whole_lines(content, options.megabytes << 20), Path(folder))


def compare(name: str, content: bytes, folder: Path) -> None:
    """Measure one corpus in every packing."""
    paths = {
        "plain": (folder / "a.jsonl", content),
        "gzip": (folder / "b.jsonl.gz", gzip.compress(content, 6)),
        "zstd": (folder / "c.jsonl.zst", zstandard.compress(content, 3)),
    }
    for path, data in paths.values():
        path.write_bytes(data)
    records = [json.loads(line) for line in content.splitlines()]
    rows = [{key: record.get(key) for key in ("text", "id", "url")} for record in records]
    parquet = folder / "d.parquet"
    pq.write_table(pa.Table.from_pylist(rows), parquet, compression="zstd")
    print(f"{name}: {len(content) / 1e6:.1f} MB, {len(rows):,} records; MB/s")
    rate("json.loads, line by line", content, lambda: list(map(json.loads, content.splitlines())))
    for packing, (path, _) in paths.items():
        rate(f"read_split, {packing}", content, lambda path=path: read(path))
    rate("read_split, Parquet", content, lambda: read(parquet))
    rate("read_split, uids, newlines", content, lambda: read(paths["plain"][0], identify))


def read(path: Path, use: Callable[[pa.RecordBatch], object] = len) -> None:
    """Read a file, and use every batch."""
    for split in plan_splits("bench", [path.name], path.parent):
        for decoded in read_split(split, COLUMNS):
            use(decoded.batch)


def identify(batch: pa.RecordBatch) -> None:
    """Do what measure does with every batch first."""
    uids("bench", batch.column("id"), batch.column("text"))
    normalise_newlines(batch.column("text"))


def rate(label: str, content: bytes, work: Callable[[], object]) -> None:
    """Print how many MB of JSON lines a second a way of reading takes."""
    best = float("inf")
    for _ in range(RUNS):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    print(f"  {label:28} {len(content) / 1e6 / best:7.0f}")


def content_of(path: Path) -> bytes:
    """Return the unpacked content of a file."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix in (".zst", ".zstd"):
        return zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return data


def whole_lines(content: bytes, limit: int) -> bytes:
    """Return the lines that fit into a number of bytes."""
    return content if len(content) <= limit else content[: content.rfind(b"\n", 0, limit) + 1]


def made_up() -> bytes:
    """Return 64 MB of lines, three in four of ASCII."""
    choose = random.Random(17)
    letters = ["abcdefghijklmnopqrstuvwxyz", "あいうえおかきくけこ日本語文章"]
    words = [["".join(choose.choices(a, k=6)) for _ in range(5000)] for a in letters]
    lines, size = [], 0
    while size < 64 << 20:
        text = " ".join(choose.choices(words[choose.random() < 0.25], k=choose.randint(50, 800)))
        record = {"id": f"doc-{len(lines)}", "text": text + "\n", "url": "https://example.org/"}
        lines.append(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        size += len(lines[-1])
    return b"".join(lines)


if __name__ == "__main__":
    main()
