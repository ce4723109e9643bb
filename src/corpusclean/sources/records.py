"""What reading yields: documents as record batches, and records that could not be read.

Causes of quarantine:

| cause | the record |
|---|---|
| `invalid_utf8` | has bytes that are not UTF-8 in a column that is wanted, or around it |
| `lone_surrogate` | has half a surrogate pair (`\\ud800`) in a column that is wanted |
| `invalid_json` | is not JSON; a line that was cut, in a file that is not compressed, too |
| `not_an_object` | is JSON, but not an object |
| `missing_text` | has no text column, or null in it |
| `wrong_type` | has something other than a string as text |
| `too_large` | is longer than `MAX_RECORD_BYTES` |
| `truncated` | stands for the end of an archive that is missing |
| `unreadable` | stands for a part of a file that is damaged |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

__all__ = [
    "BATCH_BYTES",
    "CAUSES",
    "MAX_RECORD_BYTES",
    "RAW_BYTES",
    "SCHEMA",
    "ColumnSpec",
    "Decoded",
    "Quarantined",
    "as_json",
    "as_text",
    "not_utf8",
    "quarantined",
]

CAUSES = (
    "invalid_utf8",
    "lone_surrogate",
    "invalid_json",
    "not_an_object",
    "missing_text",
    "wrong_type",
    "too_large",
    "truncated",
    "unreadable",
)
BATCH_BYTES = 16 << 20
MAX_RECORD_BYTES = 128 << 20
"""Longest line, text of a row, or file of text that becomes a document.

Decoding needs up to eight times as much memory, and what follows as much again.
"""
RAW_BYTES = 4096
"""How much of a record that could not be read is kept."""
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("url", pa.string()),
        ("metadata", pa.string()),
        ("text", pa.large_string()),
    ]
)


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """The columns of a source that are read: names of top-level fields."""

    text: str = "text"
    id: str | None = None
    url: str | None = None
    metadata: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All wanted columns, the text first, each once."""
        named = [self.text, self.id, self.url, *self.metadata]
        return list(dict.fromkeys(name for name in named if name is not None))


class Quarantined(NamedTuple):
    """A record that could not be read.

    `position` counts lines or rows of the file from 1; `raw` is the record's bytes, cut to
    `RAW_BYTES`, and `length` how many there were.
    """

    position: int
    cause: str
    raw: bytes
    detail: str
    length: int


def quarantined(
    position: int, cause: str, raw: bytes, detail: str, length: int | None = None
) -> Quarantined:
    """Make the account of a record that could not be read, with its bytes cut."""
    return Quarantined(
        position, cause, bytes(raw[:RAW_BYTES]), detail, len(raw) if length is None else length
    )


def not_utf8(data: bytes) -> str:
    """Return which byte is not UTF-8, in words; empty if all are."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"byte {data[error.start]:#04x} at byte {error.start} is not UTF-8"
    return ""


def _zero() -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Decoded:
    """A batch of documents, and what else was met while reading it.

    `batch` has the columns of `SCHEMA`; `blank` counts blank lines. Records read are the rows of
    `batch` and `quarantined` together. `rows` is where each document stood, from 0 in the split.
    """

    batch: pa.RecordBatch
    quarantined: list[Quarantined]
    blank: int
    rows: np.ndarray
    origin: Callable[[], int] = field(default=_zero)
    """How many lines or rows of the file lie before the split."""

    @property
    def position(self) -> np.ndarray:
        """Where each document stands in the file: int64, lines or rows from 1.

        For a range of bytes that does not begin the file, this reads what lies before it.
        """
        return self.rows + (self.origin() + 1)


def as_text(value: Any) -> str | None:
    """Return a value of an id or url column as text: null stays null, 17 becomes "17".

    Bytes that are not UTF-8 become hexadecimal. Raises UnicodeEncodeError for lone surrogates.
    """
    if value is None:
        return None
    if isinstance(value, str):
        value.encode()
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex()
    encoded = msgspec.json.encode(value, enc_hook=str)
    # Dates, decimals and the like are strings in JSON; their text is what is inside the quotes.
    return msgspec.json.decode(encoded, type=str) if encoded[:1] == b'"' else encoded.decode()


def as_json(values: Mapping[str, Any]) -> str:
    """Return columns of a record as a JSON object; NaN and infinities become null.

    Raises UnicodeEncodeError for lone surrogates, RecursionError for absurd nesting.
    """
    return msgspec.json.encode(values, enc_hook=str).decode()
