"""Splits of JSON lines to batches of documents."""

import functools
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from corpusclean import files
from corpusclean.sources.compression import Damage, decompress
from corpusclean.sources.json_records import Document, JsonRecords, Refused
from corpusclean.sources.lines import Block, line_blocks, lines_before, read_range, whole_lines
from corpusclean.sources.records import SCHEMA, ColumnSpec, Decoded, Quarantined, quarantined
from corpusclean.sources.splits import Split

__all__ = ["read_jsonl"]

_AT_ONCE = 256
"""Lines decoded together; a bad one among them makes these be decoded one by one."""


def read_jsonl(
    split: Split, columns: ColumnSpec, batch_bytes: int, max_record_bytes: int
) -> Iterator[Decoded]:
    """Yield the records of a split of JSON lines; see `corpusclean.sources.reading.read_split`."""
    parser = JsonRecords(columns)
    with files.open_read(split.path) as file:
        begin = 0
        pieces: Iterator[bytes | Damage]
        if split.compression:
            pieces = decompress(file, split.compression)
        else:
            begin, end = whole_lines(file, split.start, split.stop, split.size)
            pieces = read_range(file, begin, end, batch_bytes)

        @functools.cache
        def origin() -> int:
            if begin == 0:
                return 0
            with files.open_read(split.path) as again:
                return lines_before(again, begin)

        row = 0
        for block in line_blocks(pieces, batch_bytes, max_record_bytes, begin == 0):
            reading = _BlockReading(parser, row, origin, max_record_bytes)
            reading.read(block)
            row = reading.row
            yield reading.decoded()


class _BlockReading:
    """The reading of one block of lines."""

    def __init__(
        self, parser: JsonRecords, row: int, origin: Callable[[], int], longest: int
    ) -> None:
        self.row = row
        """Index in the split of the next line."""
        self._parser = parser
        self._origin = origin
        self._longest = longest
        self._documents: list[Document] = []
        self._rows: list[int] = []
        self._quarantined: list[Quarantined] = []
        self._blank = 0

    def read(self, block: Block) -> None:
        """Decode the lines of a block; what stands for its damage counts as one record."""
        lines = block.lines
        for start in range(0, len(lines), _AT_ONCE):
            self._lines(lines[start : start + _AT_ONCE])
        # The decoded texts are next copied to Arrow: their lines need not be held meanwhile.
        lines.clear()
        if block.too_long:
            self._quarantine(
                "too_large", self._too_large(block.too_long), block.cut, block.too_long
            )
        if block.damage:
            self._damaged(block.cut, block.damage)

    def _lines(self, lines: list[bytes]) -> None:
        documents = None
        if max(map(len, lines)) <= self._longest:
            documents = self._parser.read_all(lines)
        if documents is None:
            for line in lines:
                self._line(line)
            return
        self._documents += documents
        self._rows.extend(range(self.row, self.row + len(lines)))
        self.row += len(lines)

    def _line(self, line: bytes) -> None:
        if not line or line.isspace():
            self._blank += 1
            self.row += 1
        elif len(line) > self._longest:
            self._quarantine("too_large", self._too_large(len(line)), line)
        else:
            found = self._parser.read(line)
            if isinstance(found, Refused):
                self._quarantine(found.cause, found.detail, line)
            else:
                self._keep(found)

    def _damaged(self, rest: bytes, damage: Damage) -> None:
        """Add the one record that stands for damage, with the part of a line before it.

        Only if nothing of that line is missing does it count by itself.
        """
        found = self._parser.read(rest) if rest else Refused("", "")
        if not isinstance(found, Refused):
            self._keep(found)
            rest = b""
        self._quarantine(damage.cause, damage.detail, rest)

    def _keep(self, document: Document) -> None:
        self._documents.append(document)
        self._rows.append(self.row)
        self.row += 1

    def _quarantine(self, cause: str, detail: str, raw: bytes, length: int | None = None) -> None:
        # Only here is the number of the line in the file needed, which may cost reading.
        position = self._origin() + self.row + 1
        self._quarantined.append(quarantined(position, cause, raw, detail, length))
        self.row += 1

    def _too_large(self, length: int) -> str:
        return f"the line has {length:,} bytes, the limit is {self._longest:,}"

    def decoded(self) -> Decoded:
        """Return what the block holds."""
        texts, ids, urls, metadata = list(zip(*self._documents, strict=True)) or [()] * 4
        columns = [
            pa.array(ids, pa.string()),
            pa.array(urls, pa.string()),
            pa.array(metadata, pa.string()),
            pa.array(texts, pa.large_string()),
        ]
        return Decoded(
            pa.RecordBatch.from_arrays(columns, schema=SCHEMA),
            self._quarantined,
            self._blank,
            np.array(self._rows, np.int64),
            self._origin,
        )
