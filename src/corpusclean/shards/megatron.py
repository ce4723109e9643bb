"""Megatron's indexed datasets: `.bin` with token ids end to end, `.idx` with what is where.

The index, little-endian, for S sequences in D documents (here one of the other):

| offset | type | content |
|---|---|---|
| 0 | 9 bytes | `MMIDIDX\\0\\0` |
| 9 | u64 | version 1 |
| 17 | u8 | type of an id: 1 uint8, 2 int8, 3 int16, 4 int32, 5 int64, 8 uint16 |
| 18 | u64 | S |
| 26 | u64 | D + 1 |
| 34 | i32[S] | lengths, in tokens |
| 34 + 4S | i64[S] | byte offset of each sequence in the .bin |
| 34 + 12S | i64[D + 1] | first sequence of each document, and S |

Offsets and sums are 64 bits wide everywhere: a shard may pass 2 GiB. A writer keeps four bytes for
each sequence, and no tokens.
"""

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from corpusclean.errors import ShardError
from corpusclean.shards.info import ShardInfo
from corpusclean.shards.reading import Damaged, ShardReader
from corpusclean.shards.writer import ShardWriter

__all__ = [
    "MegatronReader",
    "MegatronShard",
    "MegatronWriter",
    "ShardIndex",
    "ShardInfo",
    "dtype_for",
    "index_problem",
    "parse_index",
]

SUFFIXES = (".bin", ".idx")
MAGIC = b"MMIDIDX\x00\x00"
HEADER = struct.Struct("<9sQBQQ")
VERSION = 1
_CODES = {1: "<u1", 2: "<i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
_CHUNK = 1 << 16


def dtype_for(vocabulary: int) -> np.dtype:
    """Return the type of ids that Megatron chooses for a vocabulary, added tokens included."""
    return np.dtype("<u2") if vocabulary < 65500 else np.dtype("<i4")


def _code(dtype: np.dtype) -> int:
    return next(code for code, name in _CODES.items() if np.dtype(name) == dtype)


def index_blocks(lengths: np.ndarray, itemsize: int) -> Iterator[bytes]:
    """Yield the bytes of an index behind its header: lengths, offsets, documents.

    `lengths` is int32[S]. A block holds at most 65536 entries.
    """
    count = len(lengths)
    yield lengths.astype("<i4", copy=False).tobytes()
    offset = 0
    for i in range(0, count, _CHUNK):
        sizes = lengths[i : i + _CHUNK].astype(np.int64) * itemsize
        yield (offset + np.cumsum(sizes) - sizes).astype("<i8").tobytes()
        offset += int(sizes.sum())
    for i in range(0, count + 1, _CHUNK):
        yield np.arange(i, min(i + _CHUNK, count + 1), dtype="<i8").tobytes()


class MegatronWriter(ShardWriter):
    """Writes one shard. The .bin is published first: a shard with an .idx is complete."""

    types = tuple(np.dtype(name).name for name in _CODES.values())

    def _begin(self) -> None:
        self._bin, self._idx = self._open(".bin", ".idx")
        self._lengths = array("i")

    def _append(self, ids: np.ndarray, sizes: np.ndarray) -> None:
        self._bin.write(ids.view(np.uint8))
        self._lengths.frombytes(sizes.astype(np.int32).tobytes())

    def _finish(self) -> None:
        self._check_size(".bin")
        lengths = np.frombuffer(self._lengths, np.int32)
        count = len(lengths)
        self._idx.write(HEADER.pack(MAGIC, VERSION, _code(self.dtype), count, count + 1))
        for block in index_blocks(lengths, self.dtype.itemsize):
            self._idx.write(block)


@dataclass(frozen=True)
class ShardIndex:
    """A parsed .idx: `lengths` int32[S], `pointers` int64[S] in bytes, `document_indices`."""

    dtype: np.dtype
    lengths: np.ndarray
    pointers: np.ndarray
    document_indices: np.ndarray


def parse_index(buffer: Any, path: str) -> ShardIndex:
    """Return the arrays of an index over its bytes, without copying them.

    `path` is named in messages. Raises ShardError for a wrong header or size; whether offsets and
    documents make sense is not looked at.
    """
    data = np.frombuffer(buffer, np.uint8)
    if len(data) < HEADER.size:
        raise ShardError(f"{path}: found {len(data)} bytes, expected a header of {HEADER.size}")
    magic, version, code, sequences, documents = HEADER.unpack(data[: HEADER.size].tobytes())
    if magic != MAGIC or version != VERSION:
        raise ShardError(
            f"{path}: found magic {magic!r} and version {version}, expected {MAGIC!r} and {VERSION}"
        )
    if code not in _CODES:
        raise ShardError(f"{path}: found type code {code}, expected one of {sorted(_CODES)}")
    size = HEADER.size + 12 * sequences + 8 * documents
    if len(data) != size:
        raise ShardError(
            f"{path}: found {len(data)} bytes, expected {size} for {sequences} sequences and "
            f"{documents} document entries"
        )
    at = np.cumsum([HEADER.size, 4 * sequences, 8 * sequences])
    return ShardIndex(
        dtype=np.dtype(_CODES[code]),
        lengths=data[at[0] : at[1]].view("<i4"),
        pointers=data[at[1] : at[2]].view("<i8"),
        document_indices=data[at[2] :].view("<i8"),
    )


def index_problem(index: ShardIndex) -> tuple[str, str, str] | None:
    """Return (problem, expected, found) of the first thing in an index that cannot be."""
    lengths = index.lengths.astype(np.int64)
    short = np.flatnonzero(lengths < 1)
    if len(short):
        return f"length of sequence {short[0]}", "at least 1", str(lengths[short[0]])
    sizes = lengths * index.dtype.itemsize
    expected = np.cumsum(sizes) - sizes
    wrong = np.flatnonzero(index.pointers != expected)
    if len(wrong):
        i = wrong[0]
        return f"byte offset of sequence {i}", str(expected[i]), str(index.pointers[i])
    starts = index.document_indices
    if len(starts) == 0 or starts[0] != 0 or starts[-1] != len(lengths):
        ends = f"{starts[0]} to {starts[-1]}" if len(starts) else "none"
        return "sequences of documents", f"0 to {len(lengths)}", ends
    back = np.flatnonzero(np.diff(starts) < 1)
    if len(back):
        return (
            f"first sequence after document {back[0]}",
            f"above {starts[back[0]]}",
            str(starts[back[0] + 1]),
        )
    return None


class MegatronReader(ShardReader):
    """Reads a shard from front to back, for verification; `MegatronShard` maps a local one."""

    @cached_property
    def index(self) -> ShardIndex:
        """The index, sound."""
        path = self.prefix + ".idx"
        try:
            index = parse_index(self.content(".idx"), path)
        except ShardError as error:
            problem = str(error).removeprefix(path + ": ")
            raise Damaged(self.prefix, ".idx", problem, "an index", "-") from None
        if index.dtype != self.dtype:
            raise Damaged(self.prefix, ".idx", "type of ids", self.dtype.name, index.dtype.name)
        problem_found = index_problem(index)
        if problem_found:
            raise Damaged(self.prefix, ".idx", *problem_found)
        return index

    @property
    def documents(self) -> int:
        """How many documents the index tells of."""
        return len(self.index.document_indices) - 1

    def _read_lengths(self) -> np.ndarray:
        return self.index.lengths.astype(np.int64)

    def blocks(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (suffix, ids) block after block."""
        return self.raw_blocks(".bin")


class MegatronShard:
    """A shard opened for reading: `shard[i]` is sequence i, a view of the mapped file.

    `lengths` int32[S] in tokens, `pointers` int64[S] in bytes, `document_indices` int64[D + 1],
    `ids` all tokens, `dtype` their type.
    """

    def __init__(self, prefix: str, index: ShardIndex, ids: np.ndarray) -> None:
        self.prefix = prefix
        self.dtype = index.dtype
        self.lengths = index.lengths
        self.pointers = index.pointers
        self.document_indices = index.document_indices
        self.ids = ids

    @classmethod
    def open(cls, prefix: str | Path) -> "MegatronShard":
        """Map both files of a shard; `prefix` is their local path without ending.

        Raises ShardError, naming the file, if one is missing or they do not fit together.
        """
        idx, bin_path = f"{prefix}.idx", f"{prefix}.bin"
        index = parse_index(_map(idx), idx)
        problem = index_problem(index)
        if problem:
            what, expected, found = problem
            raise ShardError(f"{idx}: {what}: expected {expected}, found {found}")
        data = _map(bin_path)
        expected_bytes = int(index.lengths.sum(dtype=np.int64)) * index.dtype.itemsize
        if len(data) != expected_bytes:
            raise ShardError(
                f"{bin_path}: found {len(data)} bytes, expected {expected_bytes} by its index"
            )
        return cls(str(prefix), index, data.view(index.dtype))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, i: int) -> np.ndarray:
        start = int(self.pointers[i]) // self.dtype.itemsize
        return self.ids[start : start + int(self.lengths[i])]


def _map(path: str) -> np.ndarray:
    """Map a file, read-only, as bytes."""
    try:
        if Path(path).stat().st_size == 0:
            return np.empty(0, np.uint8)
        return np.memmap(path, np.uint8, "r")
    except OSError as error:
        raise ShardError(f"{path}: {error.strerror or error}; run the recipe again") from None
