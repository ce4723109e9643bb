"""Measured parts: one Parquet file a family, the same rows in the same order and row groups."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from corpusclean import files
from corpusclean.errors import ShardError
from corpusclean.files import PublishedFile

__all__ = ["PartWriter", "family_path", "read_columns", "row_groups"]

_COMPRESSION_LEVEL = 1


def family_path(folder: str, family: str) -> str:
    """Return the path of a family's file in a part's folder."""
    return files.join(folder, f"{family}.parquet")


class PartWriter:
    """Writes families of one part; all are published together when the block ends."""

    def __init__(self, folder: str, families: Iterable[str]) -> None:
        self.written: dict[str, PublishedFile] = {}
        self.rows = 0
        self._folder = folder
        self._families = list(families)
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._stack = ExitStack()

    def __enter__(self) -> "PartWriter":
        for family in self._families:
            path = family_path(self._folder, family)
            self.written[family] = self._stack.enter_context(files.publishing(path))
        return self

    def write(self, columns: Mapping[str, pa.RecordBatch]) -> None:
        """Append one batch of every family, as a row group."""
        for family in self._families:
            batch = columns[family]
            if family not in self._writers:
                self._writers[family] = pq.ParquetWriter(
                    self.written[family],
                    batch.schema,
                    compression="zstd",
                    compression_level=_COMPRESSION_LEVEL,
                    use_dictionary=family != "text" and family != "signature",
                    write_statistics=False,
                    write_page_checksum=True,
                )
            self._writers[family].write_batch(batch, row_group_size=max(1, batch.num_rows))
        self.rows += columns[self._families[0]].num_rows

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            for writer in self._writers.values():
                writer.close()
        self._stack.__exit__(kind, error, trace)


def row_groups(
    folder: str, families: Iterable[str], columns: Mapping[str, list[str]] | None = None
) -> Iterator[dict[str, pa.RecordBatch]]:
    """Yield the row groups of a part, each family as one record batch."""
    with ExitStack() as stack:
        opened = {
            family: stack.enter_context(open_table(family_path(folder, family)))
            for family in families
        }
        count = max((file.num_row_groups for file in opened.values()), default=0)
        for group in range(count):
            found = {}
            for family, file in opened.items():
                with damage_named(family_path(folder, family)):
                    found[family] = _one_batch(
                        file.read_row_group(group, (columns or {}).get(family))
                    )
            yield found


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


@contextmanager
def open_table(path: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file of ours, whose pages are checked as they are read."""
    with files.open_read(path) as raw:
        with damage_named(path):
            file = pq.ParquetFile(raw, pre_buffer=False, page_checksum_verification=True)
        yield file


@contextmanager
def damage_named(path: str) -> Iterator[None]:
    """Turn what a reader says of damage into a ShardError that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ShardError(f"{path}: damaged: {error}. {files.REMAKE}") from error


def read_columns(folder: str, family: str, columns: list[str] | None = None) -> pa.Table:
    """Return columns of a family of a part; none of them may be its text."""
    path = family_path(folder, family)
    with open_table(path) as file, damage_named(path):
        return file.read(columns)
