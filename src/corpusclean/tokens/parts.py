"""Token parts: the ids of the documents of one measured part, sorted by order key.

A part is two files under one base path:

| file | content |
|---|---|
| `<base>.tokens` | ids, little-endian uint16 or int32, documents ordered by (order key, uid) |
| `<base>.index.arrow` | Arrow IPC file of one record batch, a row for each document, same order |

| column | type | meaning |
|---|---|---|
| uid | fixed_size_binary(16) | the document |
| key, choose | uint64 | its two keys, see `corpusclean.tokens.keys` |
| tokens | int64 | how many ids, the EOD included if it is appended |
| start | int64 | the first of them, counted in ids from the front of `.tokens` |
| bytes, characters | int64 | of the text: UTF-8 bytes, code points |
| check | uint64 | xxh3 of the document's ids, to be compared when they are read |

The schema's metadata names the format and the type of ids. The bytes of both files follow from
the set of documents alone, not from the order in which they are added.
"""

import os
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from corpusclean import files
from corpusclean.errors import EngineError, ShardError
from corpusclean.tokens.keys import choose_keys, order_keys, uid_bytes

__all__ = ["INDEX", "TOKENS", "TokenPart", "TokenPartWriter", "checks_of"]

TOKENS = "tokens"
INDEX = "index.arrow"

_FORMAT = b"corpusclean token part 2"
_DTYPES = (np.dtype("<u2"), np.dtype("<i4"))
_BLOCK_TOKENS = 1 << 22
_COLUMNS = ("uid", "key", "choose", "tokens", "start", "bytes", "characters", "check")


class Encoder(Protocol):
    """What a writer needs of a tokenizer."""

    dtype: np.dtype
    eod_id: int

    def encode(self, texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of texts, and int64 offsets of n + 1 in them."""


class TokenPartWriter:
    """Tokenizes batches of documents and publishes the part when its block ends without an error.

    The ids wait in a temporary file in the order of arrival; in memory are some hundred bytes a
    document and a block of 4 million ids.
    """

    def __init__(self, base: str, tokenizer: Encoder, *, seed: int, append_eod: bool) -> None:
        self._base = base
        self._tokenizer = tokenizer
        self._seed = seed
        self._append_eod = append_eod
        self._spill: Any = None
        self._uids: list[bytes] = []
        self._columns: list[np.ndarray] = []
        self._checks: list[np.ndarray] = []
        self.documents = 0
        """Documents written, those without a token not among them."""
        self.tokens = 0
        """Ids written, EODs included."""
        self.files: dict[str, files.PublishedFile] = {}
        """The published files by what follows the base in their names, once the block has ended."""

    def __enter__(self) -> "TokenPartWriter":
        folder = None if files.is_url(self._base) else Path(self._base).parent
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._spill = tempfile.TemporaryFile(dir=folder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._spill:
            if kind is None:
                self._publish()

    def add(self, uids: pa.Array, texts: pa.Array) -> np.ndarray:
        """Tokenize documents; return bool[n], true where a text has no token and is not written.

        `uids` is fixed_size_binary(16), `texts` a string column without nulls.
        """
        ids, offsets = self._tokenizer.encode(texts)
        lengths = np.diff(offsets)
        written = lengths > 0
        kept = pa.array(written)
        lengths = lengths[written]
        if self._append_eod:
            ids = np.insert(ids, offsets[1:][written], self._tokenizer.eod_id)
            lengths = lengths + 1
        sizes = (pc.binary_length(texts), pc.utf8_length(texts))
        columns = [lengths, *(_as_int64(size.filter(kept)) for size in sizes)]
        ids = ids.astype(self._tokenizer.dtype, copy=False)
        self._spill.write(ids.tobytes())
        self._checks.append(checks_of(ids, lengths))
        self._uids.append(uid_bytes(uids.filter(kept)))
        self._columns.append(np.stack(columns))
        self.documents += len(lengths)
        self.tokens += len(ids)
        return ~written

    def _publish(self) -> None:
        uids = np.frombuffer(b"".join(self._uids), np.uint8).reshape(-1, 16)
        columns = np.concatenate([np.zeros((3, 0), np.int64), *self._columns], axis=1)
        lengths = columns[0]
        key = order_keys(uids, self._seed)
        halves = _halves(uids)
        order = np.lexsort((halves[:, 1], halves[:, 0], key))
        starts = np.cumsum(lengths) - lengths
        self._spill.flush()
        blocks = _gathered(self._spill, self._tokenizer.dtype, starts[order], lengths[order])
        with files.publishing(f"{self._base}.{TOKENS}") as tokens_file:
            for block in blocks:
                tokens_file.write(block)
        checks = np.concatenate([np.zeros(0, np.uint64), *self._checks])
        index = _index_table(uids[order], key[order], self._seed, columns[:, order], checks[order])
        dtype = self._tokenizer.dtype.name.encode()
        schema = index.schema.with_metadata({b"format": _FORMAT, b"dtype": dtype})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, schema) as writer:
            writer.write_batch(index)
        # The index comes last: a part without one is no part.
        index_file = files.publish_bytes(f"{self._base}.{INDEX}", sink.getvalue())
        self.files = {TOKENS: tokens_file, INDEX: index_file}


def checks_of(ids: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the xxh3 of the ids of each of several documents that lie end to end, uint64[n]."""
    view = np.ascontiguousarray(ids).view(np.uint8).data
    ends = (np.cumsum(lengths) * ids.itemsize).tolist()
    starts = [0, *ends][:-1]
    found = [xxhash.xxh3_64_intdigest(view[a:b]) for a, b in zip(starts, ends, strict=True)]
    return np.array(found, np.uint64)


def _as_int64(column: pa.Array) -> np.ndarray:
    return column.cast(pa.int64()).to_numpy(zero_copy_only=False)


def _gathered(
    file: IO[bytes], dtype: np.dtype, starts: np.ndarray, lengths: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield the ids of documents in the order given, in blocks, from a file of all ids.

    The file is read, not mapped: pages of a map would count as memory of the worker.
    """
    width = dtype.itemsize
    buffer = np.empty(_BLOCK_TOKENS, dtype)
    view = buffer.view(np.uint8).data
    held = 0
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        done = 0
        while done < length:
            if held == _BLOCK_TOKENS:
                yield buffer
                held = 0
            taken = min(length - done, _BLOCK_TOKENS - held)
            target = view[held * width : (held + taken) * width]
            if os.preadv(file.fileno(), [target], (start + done) * width) != len(target):
                raise EngineError("the temporary file of a token part lost its end; run again")
            held += taken
            done += taken
    if held:
        yield buffer[:held]


def _index_table(
    uids: np.ndarray, key: np.ndarray, seed: int, columns: np.ndarray, checks: np.ndarray
) -> pa.RecordBatch:
    tokens, sizes, characters = np.ascontiguousarray(columns)
    run = pa.py_buffer(uids.tobytes())
    uid = pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(uids), [None, run])
    start = np.cumsum(tokens) - tokens
    choose = choose_keys(uids, seed)
    arrays = [uid, *map(pa.array, (key, choose, tokens, start, sizes, characters, checks))]
    return pa.RecordBatch.from_arrays(arrays, names=list(_COLUMNS))


def _halves(uids: np.ndarray) -> np.ndarray:
    """Return uint8 of (n, 16) as uint64 of (n, 2), big-endian halves."""
    return np.ascontiguousarray(uids).view(">u8").astype(np.uint64).reshape(-1, 2)


class TokenPart:
    """A token part, read through memory maps where it is local.

    `key`, `choose`, `check` uint64[n], `tokens`, `start`, `bytes`, `characters` int64[n], `uid`
    uint64 of (n, 2), the big-endian halves of uids.
    """

    def __init__(self, base: str, index: pa.RecordBatch, dtype: np.dtype) -> None:
        self._base = base
        self._index = index
        self.dtype = dtype
        self.key = self._column("key")
        self.choose = self._column("choose")
        self.tokens = self._column("tokens")
        self.start = self._column("start")
        self.bytes = self._column("bytes")
        self.characters = self._column("characters")
        self.check = self._column("check")
        self.total = int(self.start[-1] + self.tokens[-1]) if len(self) else 0
        """All ids of the part."""

    @classmethod
    def open(cls, base: str) -> "TokenPart":
        """Open the part under a base path; ShardError if a file is missing or does not fit."""
        path = f"{base}.{INDEX}"
        try:
            source = pa.memory_map(path) if not files.is_url(path) else files.read_bytes(path)
            with pa.ipc.open_file(source) as reader:
                metadata = reader.schema.metadata or {}
                index = reader.get_batch(0)
        except (FileNotFoundError, pa.ArrowInvalid) as error:
            raise ShardError(f"{path}: no index of a token part can be read: {error}") from error
        names = {dtype.name.encode(): dtype for dtype in _DTYPES}
        dtype = names.get(metadata.get(b"dtype", b""))
        if metadata.get(b"format") != _FORMAT or dtype is None:
            raise ShardError(
                f"{path}: expected {_FORMAT.decode()!r} with ids of uint16 or int32, found "
                f"{metadata!r}"
            )
        return cls(base, index, dtype)

    def __len__(self) -> int:
        """Return the number of documents."""
        return self._index.num_rows

    @cached_property
    def uid(self) -> np.ndarray:
        """The uids as uint64 of (n, 2), big-endian halves."""
        run = np.frombuffer(uid_bytes(self._index.column("uid")), np.uint8)
        return _halves(run.reshape(-1, 16))

    @cached_property
    def ids(self) -> np.ndarray:
        """All ids: a memory map, or read whole from an object store.

        Raises ShardError if there are not as many as the index says.
        """
        path = f"{self._base}.{TOKENS}"
        expected = self.total * self.dtype.itemsize
        try:
            size, _ = files.size_and_mtime(path)
        except FileNotFoundError as error:
            raise ShardError(f"{path}: the ids of a token part are missing") from error
        if size != expected:
            raise ShardError(f"{path}: found {size} bytes, expected {expected} by its index")
        if files.is_url(path):
            return np.frombuffer(files.read_bytes(path), self.dtype)
        if self.total == 0:  # an empty file cannot be mapped
            return np.zeros(0, self.dtype)
        return np.memmap(path, self.dtype, "r").view(np.ndarray)

    def read(self, start: int, count: int) -> np.ndarray:
        """Return `count` ids from `start` on; from an object store, only these are fetched.

        Raises ShardError for a range that the part does not have.
        """
        if not (start >= 0 and count >= 0 and start + count <= self.total):
            raise ShardError(
                f"{self._base}: asked for ids {start} to {start + count}, has {self.total}"
            )
        path = f"{self._base}.{TOKENS}"
        if not files.is_url(path) or "ids" in self.__dict__:
            return self.ids[start : start + count]
        size = self.dtype.itemsize
        with files.open_read(path) as file:
            file.seek(start * size)
            found = file.read(count * size)
        if len(found) != count * size:
            raise ShardError(f"{path}: ends before id {start + count}, which its index has")
        return np.frombuffer(found, self.dtype)

    def _column(self, name: str) -> np.ndarray:
        return self._index.column(name).to_numpy()
