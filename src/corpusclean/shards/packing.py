"""Packing: documents end to end, cut into sequences of exactly `sequence_length + 1` tokens.

The last token of a sequence is only predicted, the first only read; sequences share no token. What
is left at the end, less than a sequence, is dropped and counted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

__all__ = ["PackedPieces", "Packing", "pack_pieces"]


class Packing:
    """Packs a stream of documents; `dropped` counts the tokens left at its end."""

    def __init__(self, sequence_length: int) -> None:
        self._size = sequence_length + 1
        self._rest: list[np.ndarray] = []
        self.dropped = 0

    def packed(
        self, blocks: Iterable[tuple[np.ndarray, np.ndarray]]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (ids, lengths) of whole sequences, as writers take them; the same of `blocks`.

        However documents are divided among blocks, the sequences are the same.
        """
        for ids, _ in blocks:
            # A copy: the caller may use its buffer again.
            self._rest.append(ids.copy())
            self.dropped += len(ids)
            count = self.dropped // self._size
            if count:
                stream = np.concatenate(self._rest)
                whole = count * self._size
                self._rest = [stream[whole:].copy()]
                self.dropped -= whole
                yield stream[:whole], np.full(count, self._size, np.int64)


@dataclass(frozen=True)
class PackedPieces:
    """Where packing puts pieces of documents, a row for each contiguous run, in stream order.

    `piece` int64[n] is the piece given, `offset` the first token of the run in it; `sequence` and
    `start` say where the run stands; `tokens` is its length. `dropped` tokens are in no sequence.
    """

    piece: np.ndarray
    offset: np.ndarray
    sequence: np.ndarray
    start: np.ndarray
    tokens: np.ndarray
    dropped: int


def pack_pieces(tokens: np.ndarray, sequence_length: int) -> PackedPieces:
    """Return where packing puts pieces of `tokens` int64[m] each, at least 1."""
    size = sequence_length + 1
    ends = np.cumsum(tokens, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    whole = total // size * size
    bounds = np.union1d(ends, np.arange(0, whole + 1, size))
    bounds = bounds[bounds <= whole]
    begin, end = bounds[:-1], bounds[1:]
    piece = np.searchsorted(ends, begin, "right")
    return PackedPieces(
        piece=piece,
        offset=begin - (ends - tokens)[piece],
        sequence=begin // size,
        start=begin % size,
        tokens=end - begin,
        dropped=total - whole,
    )
