"""OLMo's and Dolma's token files: `.npy` with raw ids, `.csv.gz` with where documents are.

| file | content |
|---|---|
| NAME.npy | ids end to end as u8, u16 or u32, the narrowest that will do; no numpy header |
| NAME.csv.gz | a line for each document: start, end, id, src, loc |

`start` and `end`, half-open, are tokens of the .npy. `id` is the shard's name and the sequence's
number, from 0; `src` the shard's name, `loc` the number again: the row of the shard's provenance,
which knows the document's uid and source. Nothing is kept in memory.
"""

import gzip
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from corpusclean.shards.reading import Damaged, ShardReader
from corpusclean.shards.writer import ShardWriter, smallest_unsigned

__all__ = ["OlmoReader", "OlmoWriter", "dtype_for"]

SUFFIXES = (".npy", ".csv.gz")
_LINES = 1 << 14


def dtype_for(vocabulary: int) -> np.dtype:
    """Return the type of ids that OLMo-core takes for a vocabulary, added tokens included."""
    return smallest_unsigned(vocabulary, "uint8", "uint16", "uint32")


class OlmoWriter(ShardWriter):
    """Writes one shard."""

    types = ("uint8", "uint16", "uint32")

    def _begin(self) -> None:
        self._npy, self._csv = self._open(*SUFFIXES)
        self._name = Path(self.path).name
        # No time and no name in the header: the same documents give the same bytes.
        self._gzip = gzip.GzipFile("", "wb", 6, self._csv, mtime=0)  # type: ignore[arg-type]
        self._stack.callback(self._gzip.close)

    def _append(self, ids: np.ndarray, sizes: np.ndarray) -> None:
        self._npy.write(ids.view(np.uint8))
        ends = self._tokens + np.cumsum(sizes)
        for first in range(0, len(sizes), _LINES):
            stops = ends[first : first + _LINES].tolist()
            starts = (ends - sizes)[first : first + _LINES].tolist()
            number = self._sequences + first
            lines = [
                f"{start},{stop},{self._name}/{i},{self._name},{i}\n"
                for i, (start, stop) in enumerate(zip(starts, stops, strict=True), number)
            ]
            self._gzip.write("".join(lines).encode())

    def _finish(self) -> None:
        self._check_size(".npy")


class OlmoReader(ShardReader):
    """Reads a shard that `OlmoWriter` or Dolma wrote."""

    def _read_lengths(self) -> np.ndarray:
        starts: list[np.ndarray] = []
        ends: list[np.ndarray] = []
        try:
            with self.open(".csv.gz") as file, gzip.open(file, "rt") as lines:
                assert isinstance(lines, io.TextIOBase)
                while chunk := lines.readlines(1 << 20):
                    rows = np.array([line.split(",", 2)[:2] for line in chunk], np.int64)
                    starts.append(rows[:, 0])
                    ends.append(rows[:, 1])
        except (EOFError, gzip.BadGzipFile, ValueError, IndexError) as error:
            problem = f"not readable: {error}"
            raise Damaged(self.prefix, ".csv.gz", problem, "gzip of start,end,…", "-") from None
        none = np.empty(0, np.int64)
        start, end = np.concatenate([none, *starts]), np.concatenate([none, *ends])
        self.positive(end - start, ".csv.gz", "tokens of document {}")
        wrong = np.flatnonzero(start != np.concatenate([[0], end])[: len(start)])
        if len(wrong):
            at = int(wrong[0])
            expected = int(end[at - 1]) if at else 0
            what = f"start of document {at}"
            raise Damaged(self.prefix, ".csv.gz", what, expected, int(start[at]))
        return end - start

    def blocks(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (suffix, ids) block after block."""
        return self.raw_blocks(".npy")
