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
from corpusclean.sources.records import SCHEMA, ColumnSpec, Decoded, Quarantined, quarantined
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
    data = b"".join(pieces)
    if not length and not damage:
        return
    problem = _problem(data, length, damage, max_record_bytes)
    if problem:
        yield _decoded([], [problem])
    else:
        yield _decoded([(data.removeprefix(_BOM), _name(split.path))], [])


def _name(path: str) -> str:
    name = posixpath.basename(path) if files.is_url(path) else PurePath(path).name
    return without_compression(name)[0]


def _problem(data: bytes, length: int, damage: Damage | None, longest: int) -> Quarantined | None:
    if damage:
        return quarantined(1, damage.cause, data, damage.detail, length)
    if length > longest:
        detail = f"the text has {length:,} bytes, the limit is {longest:,}"
        return quarantined(1, "too_large", data, detail, length)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        detail = f"byte {data[error.start]:#04x} at byte {error.start} of the file is not UTF-8"
        return quarantined(1, "invalid_utf8", data, detail)
    return None


def _decoded(documents: list[tuple[bytes, str]], problems: list[Quarantined]) -> Decoded:
    columns = [
        pa.array([name for _, name in documents], pa.string()),
        pa.nulls(len(documents), pa.string()),
        pa.nulls(len(documents), pa.string()),
        pa.array([text for text, _ in documents], pa.large_binary()).view(pa.large_string()),
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    return Decoded(batch, problems, 0, np.arange(len(documents), dtype=np.int64))
