"""Columns of Parquet to the columns of documents.

Text, id and url may be strings, or bytes that hold UTF-8; plain, views, or dictionaries. Ids and
urls of other types become text, and metadata of any type JSON.
"""

import difflib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusclean.errors import InputError
from corpusclean.sources.records import (
    SCHEMA,
    ColumnSpec,
    Decoded,
    as_json,
    as_text,
    not_utf8,
    quarantined,
)
from corpusclean.sources.splits import Split

__all__ = ["check_schema", "decode_rows"]

Bad = dict[int, tuple[str, bytes, str]]
"""For a row of a batch, the cause of quarantine, what is kept of the record, and the detail."""


def check_schema(schema: pa.Schema, split: Split, columns: ColumnSpec) -> None:
    """Raise InputError if a wanted column is missing, ambiguous, or the text of another type."""
    where = f"{split.path} of source {split.source}"
    for name in columns.names:
        count = schema.names.count(name)
        if count == 1:
            continue
        nearest = difflib.get_close_matches(name, schema.names, 1)
        raise InputError(
            f"{where} has {f'{count} columns' if count else 'no column'} {name!r}; its columns are "
            f"{', '.join(schema.names)}. Name one of them in the recipe"
            + (f"; the nearest is {nearest[0]!r}." if nearest else ".")
        )
    kind = schema.field(columns.text).type
    if not (_is_text(kind) or pa.types.is_null(_plain(kind))):
        raise InputError(
            f"{where}: column {columns.text!r} holds {kind}; expected text: strings, or bytes in "
            "UTF-8. Name another column as text in the recipe."
        )


def decode_rows(batch: pa.RecordBatch, columns: ColumnSpec, first: int, longest: int) -> Decoded:
    """Return the documents of consecutive rows; `first` counts the rows before them."""
    bad: Bad = {}
    texts = _texts(batch, columns.text, bad)
    for row in np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False)):
        bad[int(row)] = ("missing_text", b"", f"{columns.text!r} is null")
    lengths = pc.fill_null(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(lengths > longest):
        detail = f"the text has {lengths[row]:,} bytes, the limit is {longest:,}"
        bad[int(row)] = ("too_large", texts[int(row)].as_buffer().to_pybytes(), detail)
    decoded = pa.RecordBatch.from_arrays(
        [
            _names(batch, columns.id, bad).fill_null(""),
            _names(batch, columns.url, bad),
            _metadata(batch, columns.metadata, bad),
            texts,
        ],
        schema=SCHEMA,
    )
    rows = np.arange(first, first + batch.num_rows, dtype=np.int64)
    if bad:
        good = np.ones(batch.num_rows, bool)
        good[list(bad)] = False
        decoded, rows = decoded.filter(pa.array(good)), rows[good]
    records = [
        quarantined(first + row + 1, cause, raw, detail)
        for row, (cause, raw, detail) in sorted(bad.items())
    ]
    return Decoded(decoded, records, 0, rows)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values below an extension or a dictionary."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    kind, types = _plain(kind), pa.types
    strings = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    large = types.is_large_binary(kind) or types.is_binary_view(kind)
    return strings or large or types.is_binary(kind)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    column = batch.column(name)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _texts(batch: pa.RecordBatch, name: str, bad: Bad) -> pa.Array:
    """Return a column of strings or bytes as large_string, its rows that are not UTF-8 noted.

    Casting bytes to strings would stop at the first that is not UTF-8, so they are only viewed.
    """
    column = _column(batch, name)
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.large_string())
    held = column.cast(pa.large_binary())
    texts = held.view(pa.large_string())
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        for row, value in enumerate(held.to_pylist()):
            problem = not_utf8(value or b"")
            if problem:
                bad[row] = ("invalid_utf8", value, f"{problem} in column {name!r}")
    return texts


def _names(batch: pa.RecordBatch, name: str | None, bad: Bad) -> pa.Array:
    """Return an id or url column as text."""
    if name is None:
        return pa.nulls(batch.num_rows, pa.string())
    kind = _plain(batch.schema.field(name).type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        texts = _texts(batch, name, bad)
        if bad:
            good = np.ones(len(texts), bool)
            good[list(bad)] = False
            texts = pc.if_else(pa.array(good), texts, pa.scalar(None, pa.large_string()))
        return texts.cast(pa.string())
    return pa.array([as_text(value) for value in _values(batch, name, bad)], pa.string())


def _metadata(batch: pa.RecordBatch, names: tuple[str, ...], bad: Bad) -> pa.Array:
    if not names:
        return pa.nulls(batch.num_rows, pa.string())
    columns = [_values(batch, name, bad) for name in names]
    rows = zip(*columns, strict=True)
    return pa.array([as_json(dict(zip(names, row, strict=True))) for row in rows], pa.string())


def _values(batch: pa.RecordBatch, name: str, bad: Bad) -> list[Any]:
    """Return a column as Python values; None, and a note, where there is no such value."""
    column = batch.column(name)
    if pa.types.is_temporal(_plain(column.type)):
        column = _times(_column(batch, name))
    try:
        return column.to_pylist()
    except (ValueError, OverflowError, pa.ArrowException):
        return [_value(scalar, row, name, bad) for row, scalar in enumerate(column)]


def _times(column: pa.Array) -> pa.Array:
    """Return dates and times in ISO 8601; Python's own types do not reach as far or as fine."""
    kind = column.type
    if pa.types.is_duration(kind):
        return column.cast(pa.int64())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        # Arrow keeps UTC; to show a zone it would need a database that a machine may lack.
        texts = column.view(pa.timestamp(kind.unit)).cast(pa.string())
        return pc.binary_join_element_wise(texts, "Z", "")
    return column.cast(pa.string())


def _value(scalar: Any, row: int, name: str, bad: Bad) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError as error:
        bad[row] = ("invalid_utf8", error.object, f"column {name!r} is not UTF-8")
    except (ValueError, OverflowError, pa.ArrowException) as error:
        bad[row] = ("wrong_type", b"", f"column {name!r} holds what cannot be shown: {error}")
    return None
