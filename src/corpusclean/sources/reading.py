"""Splits to batches of documents, whatever their format.

Reading loses nothing and stops at nothing: the records of a split are the rows of its batches and
the quarantined ones together. What every cause of quarantine means stands in `records`.
"""

from collections.abc import Callable, Iterator

from corpusclean import files
from corpusclean.errors import InputError
from corpusclean.sources.formats import Format
from corpusclean.sources.jsonl import read_jsonl
from corpusclean.sources.parquet import check_parquet, read_parquet
from corpusclean.sources.plaintext import read_text
from corpusclean.sources.records import (
    BATCH_BYTES,
    MAX_RECORD_BYTES,
    ColumnSpec,
    Decoded,
    Quarantined,
)
from corpusclean.sources.splits import Split

__all__ = ["ColumnSpec", "Decoded", "Quarantined", "check_columns", "read_split"]

Reader = Callable[[Split, ColumnSpec, int, int], Iterator[Decoded]]

_READERS: dict[Format, Reader] = {
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "text": read_text,
}
_DEFAULT = ColumnSpec()


def read_split(
    split: Split,
    columns: ColumnSpec = _DEFAULT,
    batch_bytes: int = BATCH_BYTES,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> Iterator[Decoded]:
    """Yield the records of a split in the order of the file, in batches.

    A batch has about `batch_bytes` of input (of text, for Parquet) or one record; a record longer
    than `max_record_bytes` is quarantined. The text is as decoded: newlines are not normalised.
    Raises InputError if the file is not the one that was planned, or lacks a wanted column
    (Parquet alone: a line of JSON that lacks the text is quarantined).
    """
    _check_unchanged(split)
    yield from _READERS[split.format](split, columns, batch_bytes, max_record_bytes)
    # A file that was cut or rewritten meanwhile may have given fewer records than it holds.
    _check_unchanged(split)


def check_columns(split: Split, columns: ColumnSpec) -> None:
    """Raise InputError, before any work, if a split cannot have the wanted columns."""
    if split.format == "parquet":
        check_parquet(split, columns)
    if split.format == "text" and len(columns.names) > 1:
        raise InputError(
            f"source {split.source} reads {split.path}, and a text file has no column "
            f"{columns.names[1]!r}: its id is its name. Leave id, url and metadata out, or put "
            "the text files into a source of their own."
        )


def _check_unchanged(split: Split) -> None:
    try:
        found = files.size_and_mtime(split.path)
    except FileNotFoundError as error:
        raise InputError(
            f"{split.path} of source {split.source} is gone since the run was planned. Put it "
            "back, or run the same command again."
        ) from error
    if found != (split.size, split.mtime):
        raise InputError(
            f"{split.path} of source {split.source} changed since the run was planned: it had "
            f"{split.size:,} bytes at {split.mtime}, now {found[0]:,} at {found[1]}. Run the same "
            "command again when the file is complete."
        )
