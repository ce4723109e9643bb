"""The pieces in which input is read.

| format | a split is | start, stop |
|---|---|---|
| plain JSONL | the lines whose first byte lies in a range of the file | bytes, half-open |
| Parquet | consecutive row groups | row groups, half-open |
| compressed JSONL, text | a whole file | 0, size in bytes |

Splits of a file cover it without gap or overlap, so what is read does not depend on their number.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash

from corpusclean import files
from corpusclean.sources.formats import Compression, Format, format_of

__all__ = ["TARGET_BYTES", "Split", "plan_splits"]

TARGET_BYTES = 128 << 20
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class Split:
    """A piece of input read as a unit; every field is a text, an integer or None.

    `size` is that of the file in bytes; `mtime` changes when the file is replaced (nanoseconds,
    or an etag); `weight` is about how many bytes are read for this split, to balance work by.
    """

    source: str
    path: str
    format: Format
    compression: Compression | None
    start: int
    stop: int
    size: int
    mtime: str
    weight: int

    @property
    def key(self) -> str:
        """A short name of the split, unique in a run and safe for file names.

        It stays when the file is replaced: whether its part is still valid, the receipt tells.
        """
        told = [self.source, self.path, self.start, self.stop]
        digest = xxhash.xxh3_64_hexdigest(json.dumps(told).encode())
        return f"{_UNSAFE.sub('_', self.source)}-{digest}"


def plan_splits(
    source: str,
    patterns: str | Sequence[str],
    base: str | Path,
    target_bytes: int = TARGET_BYTES,
) -> list[Split]:
    """Return the splits of the files that patterns match, in the order of path and place.

    A file that two patterns match counts once. Every file has at least one split, an empty one
    too. Raises InputError for a pattern without a file and for a file of unknown format, before
    anything is read but the footers of Parquet files.
    """
    found = files.expand(patterns, base)
    formats = [format_of(path) for path in found]
    return [
        split
        for path, (known, compression) in zip(found, formats, strict=True)
        for split in _splits_of(source, path, known, compression, target_bytes)
    ]


def _splits_of(
    source: str, path: str, known: Format, compression: Compression | None, target: int
) -> Iterator[Split]:
    size, mtime = files.size_and_mtime(path)
    ranges: Iterator[tuple[int, int, int]]
    if known == "parquet" and size:
        ranges = _row_group_ranges(path, size, target)
    elif known == "jsonl" and compression is None and size > target:
        ranges = _byte_ranges(size, target)
    else:
        ranges = iter([(0, size, size)])
    for start, stop, weight in ranges:
        yield Split(source, path, known, compression, start, stop, size, mtime, weight)


def _byte_ranges(size: int, target: int) -> Iterator[tuple[int, int, int]]:
    pieces = -(-size // target)
    for i in range(pieces):
        start, stop = i * size // pieces, (i + 1) * size // pieces
        yield start, stop, stop - start


def _row_group_ranges(path: str, size: int, target: int) -> Iterator[tuple[int, int, int]]:
    from corpusclean.sources.parquet import row_group_bytes

    weights = row_group_bytes(path)
    if weights is None:
        # A damaged file is planned all the same: reading it adds the record that says so.
        yield 0, 1, size
        return
    start = 0
    for stop in range(1, len(weights) + 1):
        full = stop == len(weights) or sum(weights[start : stop + 1]) > target
        if full:
            yield start, stop, sum(weights[start:stop])
            start = stop
    if not weights:
        yield 0, 0, 0
