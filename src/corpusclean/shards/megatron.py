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

import contextlib
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from corpusclean import files
from corpusclean.errors import ShardError

__all__ = ["MegatronShard", "MegatronWriter", "ShardIndex", "ShardInfo", "dtype_for", "parse_index"]

MAGIC = b"MMIDIDX\x00\x00"
HEADER = struct.Struct("<9sQBQQ")
VERSION = 1
_CODES = {1: "<u1", 2: "<i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
_LONGEST = 2**31 - 1
_CHUNK = 1 << 16


def dtype_for(vocabulary: int) -> np.dtype:
    """Return the type of ids that Megatron chooses for a vocabulary, added tokens included."""
    return np.dtype("<u2") if vocabulary < 65500 else np.dtype("<i4")


def _code(dtype: np.dtype) -> int:
    for code, name in _CODES.items():
        if np.dtype(name) == dtype:
            return code
    expected = ", ".join(np.dtype(name).name for name in _CODES.values())
    raise ShardError(f"token ids are {dtype.name}; Megatron's format knows {expected}")


@dataclass(frozen=True)
class ShardInfo:
    """What was written: `bytes` and `sha256` are those of the .bin."""

    path: str
    documents: int
    sequences: int
    tokens: int
    bytes: int
    sha256: str
    idx_bytes: int
    idx_sha256: str


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


class MegatronWriter:
    """Writes one shard; both files appear when its `with` block ends without an error.

    `path_prefix` is the path without ending, `dtype` the type of the ids. The .bin is published
    first: a shard with an .idx is complete.
    """

    def __init__(self, path_prefix: str | Path, dtype: np.dtype | str) -> None:
        self.path = str(path_prefix)
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self._type_code = _code(self.dtype)
        self._limits = np.iinfo(self.dtype)
        self._lengths = array("i")
        self._tokens = 0
        self._stack = contextlib.ExitStack()
        self._info: ShardInfo | None = None

    def __enter__(self) -> "MegatronWriter":
        self._bin = self._stack.enter_context(files.publishing(self.path + ".bin")).with_sha256()
        return self

    def add_document(self, ids: np.ndarray | Sequence[int]) -> None:
        """Append one document."""
        values = np.asarray(ids)
        self.add_documents(values, np.array([len(values)]))

    def add_documents(self, ids: np.ndarray, lengths: np.ndarray | Sequence[int]) -> None:
        """Append documents whose ids lie end to end in `ids`; `lengths` int[n], in tokens.

        Raises ShardError for a document without tokens, for one of 2**31 tokens or more, for
        lengths that do not sum to the ids, and for an id that the shard's type cannot hold.
        """
        sizes = np.asarray(lengths, np.int64)
        if len(sizes) == 0 and len(ids) == 0:
            return
        total = int(sizes.sum())
        if len(sizes) == 0 or sizes.min() < 1 or sizes.max() > _LONGEST or total != len(ids):
            raise ShardError(
                f"{self.path}: found {len(sizes)} lengths of {sizes.min(initial=0)} to "
                f"{sizes.max(initial=0)} tokens for {len(ids)} ids, expected lengths from 1 to "
                f"{_LONGEST} that sum to the ids"
            )
        self._bin.write(np.ascontiguousarray(self._as_dtype(ids)).view(np.uint8))
        self._lengths.frombytes(sizes.astype(np.int32).tobytes())
        self._tokens += total

    def _as_dtype(self, ids: np.ndarray) -> np.ndarray:
        if ids.dtype == self.dtype:
            return ids
        low, high = int(ids.min()), int(ids.max())
        if ids.dtype.kind not in "iu" or low < self._limits.min or high > self._limits.max:
            raise ShardError(
                f"{self.path}: found ids of type {ids.dtype.name} from {low} to {high}, expected "
                f"{self.dtype.name}"
            )
        return ids.astype(self.dtype)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:
            if self._bin.bytes != self._tokens * self.dtype.itemsize:
                raise ShardError(
                    f"{self.path}.bin: wrote {self._bin.bytes} bytes, expected {self._tokens} "
                    f"tokens of {self.dtype.itemsize} bytes"
                )
        lengths = np.frombuffer(self._lengths, np.int32)
        count = len(lengths)
        with files.publishing(self.path + ".idx") as idx:
            idx.with_sha256()
            idx.write(HEADER.pack(MAGIC, VERSION, self._type_code, count, count + 1))
            for block in index_blocks(lengths, self.dtype.itemsize):
                idx.write(block)
        self._info = ShardInfo(
            path=self.path,
            documents=count,
            sequences=count,
            tokens=self._tokens,
            bytes=self._bin.bytes,
            sha256=self._bin.sha256,
            idx_bytes=idx.bytes,
            idx_sha256=idx.sha256,
        )

    @property
    def info(self) -> ShardInfo:
        """What was written; only after the `with` block."""
        if self._info is None:
            raise ShardError(f"{self.path}: the shard is not finished")
        return self._info


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
