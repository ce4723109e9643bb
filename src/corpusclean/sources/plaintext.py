"""A text file is one document: its whole content, with the file's name as id.

The id has no folders and no ending of a compression, so it does not change with the place of the
corpus or when a file is packed. A byte order mark is not part of the text. A file of no bytes,
packed or not, holds no document.
"""

import posixpath
from collections.abc import Iterator
from pathlib import PurePath

import numpy as np
import pyarrow as pa

from corpusclean import files
from corpusclean.sources.compression import Damage, decompress
from corpusclean.sources.formats import without_compression
from corpusclean.sources.lines import read_range
from corpusclean.sources.records import (
    SCHEMA,
    ColumnSpec,
    Decoded,
    Quarantined,
    not_utf8,
    quarantined,
)
from corpusclean.sources.splits import Split

__all__ = ["read_text"]

_PIECE = 1 << 20
_BOM = b"\xef\xbb\xbf"


def read_text(
    split: Split, columns: ColumnSpec, batch_bytes: int, max_record_bytes: int
) -> Iterator[Decoded]:
    """Yield the document of a text file; see `corpusclean.sources.reading.read_split`."""
    pieces: list[bytes] = []
    length = 0
    damage = None
    with files.open_read(split.path) as file:
        content: Iterator[bytes | Damage]
        if split.compression:
            content = decompress(file, split.compression)
        else:
            content = read_range(file, 0, split.size, _PIECE)
        for piece in content:
            if isinstance(piece, Damage):
                damage = damage or piece
                continue
            length += len(piece)
            if length <= max_record_bytes:
                pieces.append(piece)
    if not length and not damage:
        return
    data = b"".join(pieces)
    pieces.clear()
    document = _text(data.removeprefix(_BOM))
    problem = _problem(data, document, length, damage, max_record_bytes)
    yield _decoded(_name(split.path), document.slice(0, 0 if problem else 1), problem)


def _name(path: str) -> str:
    name = posixpath.basename(path) if files.is_url(path) else PurePath(path).name
    return without_compression(name)[0]


def _text(data: bytes) -> pa.Array:
    """Return a column of one text, which is not copied, nor checked."""
    offsets = np.array([0, len(data)], np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), 1, buffers)


def _problem(
    data: bytes, document: pa.Array, length: int, damage: Damage | None, longest: int
) -> Quarantined | None:
    if damage:
        return quarantined(1, damage.cause, data, damage.detail, length)
    if length > longest:
        detail = f"the text has {length:,} bytes, the limit is {longest:,}"
        return quarantined(1, "too_large", data, detail, length)
    try:
        document.validate(full=True)
    except pa.ArrowInvalid:
        return quarantined(1, "invalid_utf8", data, not_utf8(data))
    return None


def _decoded(name: str, text: pa.Array, problem: Quarantined | None) -> Decoded:
    count = len(text)
    nothing = pa.nulls(count, pa.string())
    columns = [pa.array([name] * count, pa.string()), nothing, nothing, text]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    return Decoded(batch, [problem] if problem else [], 0, np.arange(count, dtype=np.int64))
