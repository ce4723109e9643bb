"""Splits of Parquet files to batches of documents, in bounded memory.

A file that cannot be opened adds one record to the quarantine; a row group that is damaged adds
one for each of its rows that could not be read.
"""

from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpusclean import files
from corpusclean.sources.parquet_columns import check_schema, decode_rows
from corpusclean.sources.records import SCHEMA, ColumnSpec, Decoded, Quarantined, quarantined
from corpusclean.sources.splits import Split

__all__ = ["check_parquet", "read_parquet", "row_group_bytes"]

_DAMAGE = (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError)
_READ_BUFFER = 1 << 20
_MOST_ROWS = 1024
"""Rows read at once: so many equal texts of 1 MB, which a dictionary can hold, are still borne."""
_MOST_LOST = 1_000_000
"""Rows that a damaged row group is believed to have."""
_MAGIC = b"PAR1"


def row_group_bytes(path: str) -> list[int] | None:
    """Return the uncompressed size of each row group; None for a file that cannot be opened."""
    with files.open_read(path) as file:
        opened = _open(file)
        if isinstance(opened, Exception):
            return None
        metadata = opened.metadata
        return [metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)]


def check_parquet(split: Split, columns: ColumnSpec) -> None:
    """Raise InputError if a wanted column is missing or the text is of another type.

    A file that cannot be opened passes: reading it quarantines a record.
    """
    if not split.size:
        return
    with files.open_read(split.path) as file:
        opened = _open(file)
        if not isinstance(opened, Exception):
            check_schema(opened.schema_arrow, split, columns)


def read_parquet(
    split: Split, columns: ColumnSpec, batch_bytes: int, max_record_bytes: int
) -> Iterator[Decoded]:
    """Yield the rows of a split of Parquet; see `corpusclean.sources.reading.read_split`."""
    if not split.size:
        return
    with files.open_read(split.path) as file:
        opened = _open(file)
        if isinstance(opened, Exception):
            yield _nothing([_closed(file, opened, split.size)])
            return
        check_schema(opened.schema_arrow, split, columns)
        counts = [opened.metadata.row_group(i).num_rows for i in range(split.stop)]
        for group in range(split.start, split.stop):
            reading = _GroupReading(opened, group, sum(counts[:group]), columns)
            yield from reading.batches(batch_bytes, max_record_bytes)


def _open(file: IO[bytes]) -> Any:
    """Return the ParquetFile, or the exception that says why it cannot be opened."""
    try:
        return pq.ParquetFile(
            file, pre_buffer=False, buffer_size=_READ_BUFFER, page_checksum_verification=True
        )
    except _DAMAGE as error:
        _pass_on_if_of_the_system(error)
        return error


def _pass_on_if_of_the_system(error: Exception) -> None:
    """Raise errors of the disk or the network again; Arrow's own OSErrors have no number."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error


def _closed(file: IO[bytes], error: Exception, size: int) -> Quarantined:
    file.seek(0)
    begins = file.read(len(_MAGIC)) == _MAGIC
    file.seek(max(0, size - len(_MAGIC)))
    ends = file.read() == _MAGIC
    cause = "truncated" if begins and not ends else "unreadable"
    return quarantined(1, cause, b"", f"the Parquet file cannot be opened: {error}", size)


def _nothing(records: list[Quarantined]) -> Decoded:
    empty = pa.RecordBatch.from_pylist([], schema=SCHEMA)
    return Decoded(empty, records, 0, np.zeros(0, np.int64))


class _GroupReading:
    """The reading of one row group; `before` counts the rows of the file before it."""

    def __init__(self, file: Any, group: int, before: int, columns: ColumnSpec) -> None:
        self._file = file
        self._group = group
        self._before = before
        self._columns = columns
        metadata = file.metadata.row_group(group)
        self._count = metadata.num_rows
        self._row_bytes = metadata.total_byte_size // max(1, self._count)
        self._done = 0
        self._problem = "the row group holds fewer rows than the file's footer says"

    def batches(self, batch_bytes: int, longest: int) -> Iterator[Decoded]:
        """Yield the rows as batches of about `batch_bytes` of text, then those that are lost."""
        gathered: list[Decoded] = []
        size = 0
        for batch in self._stored(batch_bytes):
            first = self._before + self._done
            self._done += batch.num_rows
            gathered.append(decode_rows(batch, self._columns, first, longest))
            size += gathered[-1].batch.column("text").nbytes
            if size >= batch_bytes:
                yield from _regrouped(gathered, batch_bytes)
                gathered, size = [], 0
        if gathered:
            yield from _regrouped(gathered, batch_bytes)
        yield from self._lost()

    def _stored(self, batch_bytes: int) -> Iterator[pa.RecordBatch]:
        rows = min(_MOST_ROWS, max(1, batch_bytes // max(1, self._row_bytes)))
        batches = self._file.iter_batches(
            rows, row_groups=[self._group], columns=self._columns.names, use_threads=False
        )
        while True:
            try:
                batch = next(batches, None)
            except _DAMAGE as error:
                _pass_on_if_of_the_system(error)
                self._problem = f"row group {self._group} is damaged: {error}"
                return
            if batch is None:
                return
            yield batch

    def _lost(self) -> Iterator[Decoded]:
        believed = min(self._count, self._done + _MOST_LOST)
        for start in range(self._done, believed, _MOST_ROWS):
            stop = min(start + _MOST_ROWS, believed)
            yield _nothing(
                [
                    quarantined(self._before + row + 1, "unreadable", b"", self._problem)
                    for row in range(start, stop)
                ]
            )


def _regrouped(gathered: list[Decoded], batch_bytes: int) -> Iterator[Decoded]:
    """Join small batches and cut large ones, so that each has about `batch_bytes` of text."""
    batch = pa.concat_batches([decoded.batch for decoded in gathered])
    rows = np.concatenate([decoded.rows for decoded in gathered])
    records = [record for decoded in gathered for record in decoded.quarantined]
    ends = np.cumsum(pc.binary_length(batch.column("text")).to_numpy(zero_copy_only=False))
    start = 0
    while start < len(rows) or records:
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + batch_bytes, side="right")))
        yield Decoded(batch.slice(start, stop - start), records, 0, rows[start:stop])
        start, records = stop, []
