"""Cleaned text as JSONL.zst, for those who tokenize later.

A line is one document: `{"id", "uid", "source", "url", "text"}`, the uid as 32 hex digits, id and
url null where there is none. The bytes depend on the documents alone (and on the version of zstd).
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import pyarrow as pa
import zstandard

from corpusclean import files
from corpusclean.errors import ShardError

__all__ = ["SUFFIX", "TextInfo", "TextWriter", "read_text"]

SUFFIX = ".jsonl.zst"
FIELDS = ("id", "uid", "source", "url", "text")
_REQUIRED = ("uid", "source", "text")
_LEVEL = 3
_ROWS = 1000


@dataclass(frozen=True)
class TextInfo:
    """What was written; `text_bytes` counts the documents' text as UTF-8, `bytes` the file."""

    path: str
    documents: int
    text_bytes: int
    bytes: int
    sha256: str


class TextWriter:
    """Writes one file of text; it appears when the `with` block ends without an error.

    `path_prefix` is the path without ending.
    """

    def __init__(self, path_prefix: str | Path) -> None:
        self.path = str(path_prefix)
        self._encoder = msgspec.json.Encoder()
        self._documents = 0
        self._text_bytes = 0
        self._stack = contextlib.ExitStack()
        self._info: TextInfo | None = None

    def __enter__(self) -> Self:
        with self._stack:
            publishing = files.publishing(self.path + SUFFIX)
            self._file = self._stack.enter_context(publishing).with_sha256()
            compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
            self._zstd: Any = compressor.stream_writer(self._file, closefd=False)  # type: ignore[arg-type]
            self._stack = self._stack.pop_all()
        return self

    def add_documents(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Append documents as mappings; uid is 16 bytes or 32 hex digits, other keys are left out.

        Raises ShardError for a document without uid, source or text.
        """
        for document in documents:
            row: dict[str, Any] = {field: document.get(field) for field in FIELDS}
            for field in _REQUIRED:
                if row[field] is None:
                    raise ShardError(
                        f"{self.path}{SUFFIX}: document {self._documents} has no {field}; give "
                        f"{', '.join(_REQUIRED)}"
                    )
            if not isinstance(row["uid"], str):
                row["uid"] = bytes(row["uid"]).hex()
            if row["id"] is not None:
                row["id"] = str(row["id"])
            self._zstd.write(self._encoder.encode(row) + b"\n")
            self._documents += 1
            self._text_bytes += len(row["text"].encode())

    def add_batch(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Append the rows of a batch or table with columns uid, source, text and maybe id, url."""
        chosen = batch.select([name for name in FIELDS if name in batch.schema.names])
        for first in range(0, len(chosen), _ROWS):
            self.add_documents(chosen.slice(first, _ROWS).to_pylist())

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
            self._zstd.close()
        self._info = TextInfo(
            self.path, self._documents, self._text_bytes, self._file.bytes, self._file.sha256
        )

    @property
    def info(self) -> TextInfo:
        """What was written; only after the `with` block."""
        if self._info is None:
            raise ShardError(f"{self.path}: the file is not finished")
        return self._info


def read_text(path_prefix: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the documents of a file; `path_prefix` is its path without ending.

    Raises ShardError for a file that is cut short or is no JSONL.zst.
    """
    path = f"{path_prefix}{SUFFIX}"
    try:
        with files.open_read(path) as file:
            decompressor = zstandard.ZstdDecompressor()
            with decompressor.stream_reader(file, read_across_frames=True) as stream:
                rest = b""
                while block := stream.read(1 << 20):
                    *lines, rest = (rest + block).split(b"\n")
                    yield from map(msgspec.json.decode, lines)
    except (zstandard.ZstdError, msgspec.DecodeError) as error:
        raise ShardError(f"{path}: not readable: {error}; write the file again") from None
    if rest:
        raise ShardError(f"{path}: the last line has no end; write the file again")
