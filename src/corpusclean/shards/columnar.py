"""Parquet and Arrow files with one column, `input_ids` list<int32>, a row for each sequence.

Both are read by `datasets.load_dataset`. A Parquet file is compressed with zstd; an Arrow file is
an uncompressed IPC stream, which can be mapped. Row groups and record batches hold 4 million
tokens or less (more only for a longer document): that much is kept in memory.
"""

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusclean.errors import ShardError
from corpusclean.shards.grouping import Grouping
from corpusclean.shards.reading import Damaged, ShardReader
from corpusclean.shards.writer import ShardWriter

__all__ = ["SCHEMA", "ArrowReader", "ArrowWriter", "ParquetReader", "ParquetWriter", "dtype_for"]

SCHEMA = pa.schema([pa.field("input_ids", pa.list_(pa.int32()))])
GROUP_TOKENS = 1 << 22
_ROW = 64
"""What a row counts against the limit besides its tokens, so that a group has an end."""


def dtype_for(vocabulary: int) -> np.dtype:
    """Return int32: the only type of these formats."""
    if vocabulary > 2**31:
        raise ShardError(f"a vocabulary of {vocabulary:,} ids; the format takes int32")
    return np.dtype("<i4")


class _ColumnarWriter(ShardWriter):
    """Writes groups of rows."""

    types = ("int32",)

    def _begin(self) -> None:
        self._grouping = Grouping(GROUP_TOKENS)
        self._start()

    def _append(self, ids: np.ndarray, sizes: np.ndarray) -> None:
        for group in self._grouping.add(ids, sizes, sizes + _ROW):
            self._group(_batch(*group))

    def _finish(self) -> None:
        ids, sizes = self._grouping.rest()
        if len(sizes):
            self._group(_batch(ids, sizes))

    @abstractmethod
    def _start(self) -> None:
        """Open the file, and see to it that its end is written before it is published."""

    @abstractmethod
    def _group(self, batch: pa.RecordBatch) -> None:
        """Write a group."""


def _batch(ids: np.ndarray, sizes: np.ndarray) -> pa.RecordBatch:
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    column = pa.ListArray.from_arrays(pa.array(offsets), pa.array(ids, pa.int32()))
    return pa.RecordBatch.from_arrays([column], schema=SCHEMA)


class ParquetWriter(_ColumnarWriter):
    """Writes one shard as Parquet. The bytes also depend on the version of the Parquet library."""

    def _start(self) -> None:
        (self._file,) = self._open(".parquet")
        self._parquet = pq.ParquetWriter(
            self._file,
            SCHEMA,
            version="2.6",
            compression="zstd",
            compression_level=3,
            use_dictionary=False,
        )
        self._stack.callback(self._parquet.close)

    def _group(self, batch: pa.RecordBatch) -> None:
        self._parquet.write_table(pa.Table.from_batches([batch]), row_group_size=len(batch))


class ArrowWriter(_ColumnarWriter):
    """Writes one shard as an Arrow IPC stream."""

    def _start(self) -> None:
        (self._file,) = self._open(".arrow")
        self._stream = pa.ipc.new_stream(self._file, SCHEMA)
        self._stack.callback(self._stream.close)

    def _group(self, batch: pa.RecordBatch) -> None:
        self._stream.write_batch(batch)


class _ColumnarReader(ShardReader):
    """Reads a file batch after batch."""

    suffix: str

    def _read_lengths(self) -> np.ndarray:
        found = [np.diff(column.offsets.to_numpy()) for column in self._columns()]
        lengths = np.concatenate([np.empty(0, np.int64), *found])
        self.positive(lengths, self.suffix, "tokens of row {}")
        return lengths

    def blocks(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (suffix, ids) group after group."""
        for column in self._columns():
            yield self.suffix, column.flatten().to_numpy()

    def _columns(self) -> Iterator[pa.ListArray]:
        try:
            with self.open(self.suffix) as file:
                for batch in self._batches(file):
                    column = batch.column(0)
                    if column.null_count or column.flatten().null_count:
                        raise Damaged(self.prefix, self.suffix, "nulls", "none", "some")
                    yield column
        except pa.ArrowException as error:
            problem = f"not readable: {error}"[:200]
            raise Damaged(self.prefix, self.suffix, problem, "a file with input_ids", "-") from None

    def _check(self, schema: pa.Schema) -> None:
        if not schema.equals(SCHEMA):
            found = str(schema).replace("\n", " ")
            raise Damaged(self.prefix, self.suffix, "columns", "input_ids list<int32>", found)

    @abstractmethod
    def _batches(self, file: object) -> Iterator[pa.RecordBatch]:
        """Yield the record batches of an open file."""


class ParquetReader(_ColumnarReader):
    """Reads a shard that `ParquetWriter` wrote."""

    suffix = ".parquet"

    def _batches(self, file: object) -> Iterator[pa.RecordBatch]:
        parquet = pq.ParquetFile(file)
        self._check(parquet.schema_arrow)
        for group in range(parquet.num_row_groups):
            yield from parquet.read_row_group(group).to_batches()


class ArrowReader(_ColumnarReader):
    """Reads a shard that `ArrowWriter` wrote."""

    suffix = ".arrow"

    def _batches(self, file: object) -> Iterator[pa.RecordBatch]:
        stream = pa.ipc.open_stream(file)
        self._check(stream.schema)
        yield from stream
