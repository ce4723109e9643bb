"""MosaicML's streaming format: `.mds` files with samples, and one index.json for a folder.

A sample is a sequence, its only column `tokens`, encoded as `ndarray:uint16` or `ndarray:int32`.
A file, little-endian, for n samples:

| content | type |
|---|---|
| n | u32 |
| where each sample starts, and where the last one ends, from the file's start | u32[n + 1] |
| the columns and settings, as JSON | text |
| samples | one after the other |

and a sample of t tokens, whose shape is stored in the narrowest of 1, 2 and 4 bytes:

| content | type |
|---|---|
| bytes that follow | u32 |
| number of dimensions, 1, times 4, plus 0, 1 or 2 for a shape of 1, 2 or 4 bytes | u8 |
| t | u8, u16 or u32 |
| ids | the column's type |

Offsets within a file are 32 bits wide, so a shard is divided among files of at most 64 MiB; a
document that alone is larger has a file of its own, up to 4 GiB. A file is written when it is
full: that much is kept in memory, and no more. index.json lists the files of all shards in a
folder and is published after them.
"""

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corpusclean import files
from corpusclean.errors import ShardError
from corpusclean.shards.grouping import Grouping
from corpusclean.shards.info import ShardFile
from corpusclean.shards.megatron import dtype_for
from corpusclean.shards.reading import Damaged, ShardReader
from corpusclean.shards.writer import ShardWriter

__all__ = ["INDEX", "MdsReader", "MdsWriter", "dtype_for", "index_text"]

INDEX = "index.json"
COLUMN = "tokens"
SIZE_LIMIT = 1 << 26
_LARGEST = 2**32 - 1
_WIDTHS = ("<u1", "<u2", "<u4")


def suffix(number: int) -> str:
    """Return the ending of a shard's n-th file."""
    return f".{number:05d}.mds"


def _config(dtype: np.dtype) -> dict[str, Any]:
    """Return what every file says about itself."""
    return {
        "column_encodings": [f"ndarray:{dtype.name}"],
        "column_names": [COLUMN],
        "column_sizes": [None],
        "compression": None,
        "format": "mds",
        "hashes": ["sha256"],
        "size_limit": SIZE_LIMIT,
        "version": 2,
    }


def _config_bytes(dtype: np.dtype) -> bytes:
    return json.dumps(_config(dtype), sort_keys=True).encode()


def index_text(dtype: np.dtype | str, shards: Sequence[tuple[str, Sequence[ShardFile]]]) -> str:
    """Return the text of index.json over (name without folder, files) of a folder's shards."""
    entries = [
        _config(np.dtype(dtype))
        | {
            "raw_data": {
                "basename": name + file.suffix,
                "bytes": file.bytes,
                "hashes": {"sha256": file.sha256},
            },
            "samples": file.sequences,
            "zip_data": None,
        }
        for name, shard_files in shards
        for file in shard_files
    ]
    return json.dumps({"shards": entries, "version": 2}, sort_keys=True)


def _code(tokens: np.ndarray) -> np.ndarray:
    """Return the code of the width of a shape: 0, 1 or 2."""
    return (tokens > 0xFF).astype(np.int64) + (tokens > 0xFFFF)


def _sample_bytes(tokens: np.ndarray, itemsize: int) -> np.ndarray:
    """Return the bytes of samples, int64[n], their size field included."""
    return 5 + (1 << _code(tokens)) + tokens * itemsize


class MdsWriter(ShardWriter):
    """Writes one shard into one file or more; index.json is not its concern."""

    types = ("uint16", "int32")

    def __init__(
        self, path_prefix: str | Path, dtype: np.dtype | str, size_limit: int = SIZE_LIMIT
    ) -> None:
        super().__init__(path_prefix, dtype)
        self._config = _config_bytes(self.dtype)
        self._grouping = Grouping(size_limit - len(self._config) - 8)

    def _begin(self) -> None:
        """Open nothing: a file is written at once when its samples are known."""

    def _append(self, ids: np.ndarray, sizes: np.ndarray) -> None:
        costs = _sample_bytes(sizes, self.dtype.itemsize) + 4
        for group in self._grouping.add(ids, sizes, costs):
            self._write(*group)

    def _finish(self) -> None:
        ids, sizes = self._grouping.rest()
        if len(sizes):
            self._write(ids, sizes)

    def _write(self, ids: np.ndarray, sizes: np.ndarray) -> None:
        """Publish a file of its own with some documents."""
        count = len(sizes)
        sample_bytes = _sample_bytes(sizes, self.dtype.itemsize)
        begin = 4 + 4 * (count + 1) + len(self._config)
        offsets = begin + np.concatenate([[0], np.cumsum(sample_bytes)])
        if offsets[-1] > _LARGEST:
            raise ShardError(
                f"{self.path}: a document of {sizes.max():,} tokens makes a file of "
                f"{offsets[-1]:,} bytes, MDS allows {_LARGEST:,}; use another format, or lower "
                "output.shard_tokens"
            )
        ending = suffix(len(self._published))
        with files.publishing(self.path + ending) as file:
            file.with_sha256()
            file.write(struct.pack("<I", count) + offsets.astype("<u4").tobytes() + self._config)
            for block in self._samples(ids, sizes, sample_bytes):
                file.write(block)
        self._published.append(ShardFile(ending, file.bytes, file.sha256, count))

    def _samples(
        self, ids: np.ndarray, sizes: np.ndarray, sample_bytes: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Yield the bytes of samples, a thousand at a time."""
        data, itemsize = ids.view(np.uint8), self.dtype.itemsize
        codes = _code(sizes)
        at = 0
        for first in range(0, len(sizes), 1000):
            part = slice(first, first + 1000)
            out = np.empty(int(sample_bytes[part].sum()), np.uint8)
            to = 0
            for tokens, size, code in zip(
                sizes[part].tolist(), sample_bytes[part].tolist(), codes[part].tolist(), strict=True
            ):
                head = struct.pack("<IB" + "BHI"[code], size - 4, 4 + code, tokens)
                out[to : to + len(head)] = np.frombuffer(head, np.uint8)
                out[to + len(head) : to + size] = data[at : at + tokens * itemsize]
                to += size
                at += tokens * itemsize
            yield out


class MdsReader(ShardReader):
    """Reads the files of one shard; `suffixes` names them in order."""

    def _read_lengths(self) -> np.ndarray:
        found = [self._file(suffix)[1] for suffix in self.suffixes]
        return np.concatenate([np.empty(0, np.int64), *found])

    def sequences_by_file(self) -> Mapping[str, int]:
        """Return how many sequences each file of the shard holds."""
        return {suffix: len(self._file(suffix)[1]) for suffix in self.suffixes}

    def blocks(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (suffix, ids) of a thousand sequences at a time."""
        for suffix in self.suffixes:
            content, lengths, begins = self._file(suffix)
            pairs = list(zip(lengths.tolist(), begins.tolist(), strict=True))
            for first in range(0, len(pairs), 1000):
                some = pairs[first : first + 1000]
                ids = [np.frombuffer(content, self.dtype, length, begin) for length, begin in some]
                yield suffix, np.concatenate(ids)

    def _file(self, suffix: str) -> tuple[bytes, np.ndarray, np.ndarray]:
        """Return a file's content, its samples' tokens, and where the ids of each begin."""
        content = self.content(suffix)
        config = _config_bytes(self.dtype)
        data = np.frombuffer(content, np.uint8)
        count = int.from_bytes(content[:4], "little")
        begin = 4 + 4 * (count + 1) + len(config)
        if len(content) < begin:
            raise Damaged(self.prefix, suffix, "size in bytes", f"at least {begin}", len(content))
        if content[begin - len(config) : begin] != config:
            found = content[begin - len(config) : begin].decode("utf-8", "replace")
            raise Damaged(self.prefix, suffix, "columns and settings", config.decode(), found)
        offsets = np.frombuffer(content, "<u4", count + 1, 4).astype(np.int64)
        sizes = np.diff(offsets)
        edges = [begin, len(content)]
        if offsets[[0, -1]].tolist() != edges or (sizes < 6).any():
            found = offsets[[0, -1]].tolist()
            raise Damaged(self.prefix, suffix, "offsets of samples", edges, found)
        code = data[offsets[:-1] + 4].astype(np.int64) - 4
        if not ((code >= 0) & (code <= 2) & (sizes > 5 + (1 << np.clip(code, 0, 2)))).all():
            raise Damaged(self.prefix, suffix, "shapes of samples", "one dimension", "others")
        ids_begin = offsets[:-1] + 5 + (1 << code)
        lengths = np.zeros(count, np.int64)
        for byte in range(4):
            has = byte < (1 << code)
            lengths[has] |= data[offsets[:-1][has] + 5 + byte].astype(np.int64) << (8 * byte)
        stated = sum(data[offsets[:-1] + i].astype(np.int64) << (8 * i) for i in range(4)) + 4
        wrong = np.flatnonzero(
            (stated != sizes) | (_sample_bytes(lengths, self.dtype.itemsize) != sizes)
        )
        if len(wrong):
            at = int(wrong[0])
            raise Damaged(self.prefix, suffix, f"size of sample {at}", sizes[at], lengths[at])
        return content, lengths, ids_begin
