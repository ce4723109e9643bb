"""One line of JSON to a document, or to the cause why it is none.

Every line goes through one parser, msgspec, which builds the wanted columns alone: many lines at
once as long as it takes them all, else line by line. A line that it refuses is looked at again by
the standard library, which is laxer and tells why: NaN and infinities, which Python's own writer
leaves, become null; and what is wrong with a column that is not wanted does not matter. Of a key
that is there twice, the last holds. So what becomes of a line depends on that line alone, never on
the lines around it.

pyarrow.json is not used: where a block begins with the line `null`, pyarrow 25 ends the process
with a segmentation fault; two objects on a line count as two rows; NaN and invalid UTF-8 pass.
"""

import json
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from corpusclean.errors import InputError
from corpusclean.sources.records import ColumnSpec, as_json, as_text, not_utf8

__all__ = ["Document", "JsonRecords", "Refused"]

_REFUSALS = (msgspec.MsgspecError, ValueError, RecursionError)

Document = tuple[str, str, str | None, str | None]
"""Text, id, url, metadata."""

_LONE = "lone_surrogate"
_TOO_DEEP = "values are nested too deeply"


class Refused(NamedTuple):
    """Why a line is no document: a cause of quarantine, and what was found."""

    cause: str
    detail: str


class JsonRecords:
    """Reads lines of JSON for one set of wanted columns."""

    def __init__(self, columns: ColumnSpec) -> None:
        names = columns.names
        self._columns = names
        self._id = None if columns.id is None else names.index(columns.id)
        self._url = None if columns.url is None else names.index(columns.url)
        self._metadata = [(name, names.index(name)) for name in columns.metadata]
        fields: list[Any] = [("f0", str)]
        fields += [(f"f{i}", Any, None) for i in range(1, len(names))]
        rename = {f"f{i}": name for i, name in enumerate(names)}
        try:
            record = msgspec.defstruct("Record", fields, rename=rename, gc=False)
        except ValueError as error:
            raise InputError(
                f"the columns {names} cannot all be read from JSON: {error}. "
                "Rename the column in the input, or leave it out of the recipe."
            ) from error
        self._decode = msgspec.json.Decoder(record).decode

    def read(self, line: bytes) -> Document | Refused:
        """Return the document that a line holds; the line is not blank."""
        try:
            return self._document(msgspec.structs.astuple(self._decode(line)))
        except _REFUSALS:
            return self._look_again(line)

    def read_all(self, lines: list[bytes]) -> list[Document] | None:
        """Return the documents that lines hold, or None if `read` has to look at each of them."""
        try:
            records: list[Any] = [self._decode(line) for line in lines]
            if self._metadata:
                return [self._document(msgspec.structs.astuple(record)) for record in records]
            texts = [record.f0 for record in records]
            ids = [value or "" for value in self._names(records, self._id)]
            urls = self._names(records, self._url)
            return list(zip(texts, ids, urls, repeat(None), strict=False))
        except _REFUSALS:
            return None

    def _names(self, records: list[Any], place: int | None) -> list[str | None]:
        """Return the texts of the id or url column."""
        if place is None:
            return [None] * len(records)
        values = list(map(attrgetter(f"f{place}"), records))
        if all(value.__class__ is str for value in values):
            return values
        return [as_text(value) for value in values]

    def _document(self, values: tuple[Any, ...]) -> Document:
        record_id = None if self._id is None else values[self._id]
        if record_id.__class__ is not str:
            record_id = as_text(record_id) or ""
        url = None if self._url is None else values[self._url]
        if url.__class__ is not str:
            url = as_text(url)
        metadata = None
        if self._metadata:
            metadata = as_json({name: values[i] for name, i in self._metadata})
        return values[0], record_id, url, metadata

    def _look_again(self, line: bytes) -> Document | Refused:
        """Read a line laxly, or tell why it cannot be read."""
        encoding = not_utf8(line)
        text = line.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        try:
            record = json.loads(text, parse_constant=lambda _: None)
        except RecursionError:
            return Refused("invalid_json", _TOO_DEEP)
        except ValueError as error:
            return Refused("invalid_utf8", encoding) if encoding else _invalid(error)
        missing = self._missing(record)
        if missing:
            return missing
        try:
            document = self._document(tuple(record.get(name) for name in self._columns))
            for value in document:
                if value is not None:
                    value.encode()
        except UnicodeEncodeError as error:
            detail = f"half a surrogate pair, {error.object[error.start : error.end]!a}"
            return Refused("invalid_utf8", encoding) if encoding else Refused(_LONE, detail)
        except RecursionError:
            return Refused("invalid_json", _TOO_DEEP)
        return document

    def _missing(self, record: Any) -> Refused | None:
        if not isinstance(record, dict):
            return Refused("not_an_object", f"expected an object, found {_kind(record)}")
        name = self._columns[0]
        if name not in record:
            found = ", ".join(list(record)[:12]) or "nothing"
            return Refused("missing_text", f"no column {name!r} among: {found}"[:400])
        if record[name] is None:
            return Refused("missing_text", f"{name!r} is null")
        if not isinstance(record[name], str):
            return Refused("wrong_type", f"{name!r} is {_kind(record[name])}, expected a string")
        return None


def _invalid(error: ValueError) -> Refused:
    # The message of the standard library names lines, of which a record has one.
    if isinstance(error, json.JSONDecodeError):
        return Refused("invalid_json", f"{error.msg} at character {error.pos}")
    return Refused("invalid_json", str(error))


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return kinds.get(type(value), "a number")
