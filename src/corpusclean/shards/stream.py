"""The stream: all copies of all documents in the order in which training reads them.

Copy n of a document stands at position `key + n · 0x9E3779B97F4A7C15 mod 2^64`, where `key` is the
document's order key. The stream is ordered by (position, uid, copy). A document longer than
`shard_tokens` is cut into consecutive pieces of so many tokens, the last one with the rest; every
other document is one piece. A piece is what shards are made of: never cut, a sequence of its own.

A token part holds its documents in key order, so the pieces of a range of positions are, for each
copy number, one or two slices of its index. Nothing here holds more than the pieces asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

__all__ = [
    "BUCKETS",
    "CopiesOf",
    "PartIndex",
    "Pieces",
    "Place",
    "ShardRange",
    "merge_pieces",
    "position_histogram",
    "select_bucket",
    "select_range",
]

BUCKETS = 1 << 16
_STEP = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1
_SHIFT = 48

CopiesOf = Callable[[slice], np.ndarray]
"""Gives the number of copies, int64, of a slice of a part's rows."""


class Place(NamedTuple):
    """Where a piece stands in the stream; places compare as the pieces are ordered."""

    position: int
    uid_high: int
    uid_low: int
    copy: int
    piece: int


@dataclass(frozen=True)
class ShardRange:
    """The pieces from `first` up to but without `stop` (None: to the end), `tokens` in all."""

    first: Place
    stop: Place | None
    tokens: int


@dataclass(frozen=True)
class PartIndex:
    """Columns of a token part's index, ascending in `key`; memory maps will do.

    `key` uint64[n]; `uid` uint64[n, 2], big-endian halves; `tokens` int[n], a document's length.
    """

    key: np.ndarray
    uid: np.ndarray
    tokens: np.ndarray


@dataclass(frozen=True)
class Pieces:
    """Pieces in stream order, one row each.

    `position` uint64, `uid` uint64[n, 2], `copy` int64, `start` int64 the piece's first token
    within its document, `tokens` int64 its length, `row` int64 its document's row in the part.
    """

    position: np.ndarray
    uid: np.ndarray
    copy: np.ndarray
    start: np.ndarray
    tokens: np.ndarray
    row: np.ndarray

    def __len__(self) -> int:
        return len(self.position)

    def take(self, rows: np.ndarray) -> "Pieces":
        """Return some of the pieces, by an index or mask array."""
        columns = (self.position, self.uid, self.copy, self.start, self.tokens, self.row)
        return Pieces(*(column[rows] for column in columns))

    def place(self, i: int, shard_tokens: int) -> Place:
        """Return the place of piece i."""
        high, low = self.uid[i]
        piece = int(self.start[i]) // shard_tokens
        return Place(int(self.position[i]), int(high), int(low), int(self.copy[i]), piece)

    def order(self) -> np.ndarray:
        """Return the indexes that sort the pieces as in the stream."""
        high, low = self.uid[:, 0], self.uid[:, 1]
        return np.lexsort((self.start, self.copy, low, high, self.position))


def _shift(copy: int) -> int:
    return copy * _STEP & _MASK


def position_histogram(keys: np.ndarray, tokens: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """Return the tokens of all copies by the top 16 bits of their position, int64[65536].

    `keys` is uint64[n], `tokens` int64[n], `copies` int64[n]; histograms of parts are added. Exact
    below 2**53 tokens.
    """
    total = np.zeros(BUCKETS, np.int64)
    copy = 0
    rows = np.flatnonzero(copies > 0)
    while len(rows):
        position = keys[rows] + np.uint64(_shift(copy))
        bucket = (position >> np.uint64(_SHIFT)).astype(np.int64)
        total += np.bincount(bucket, weights=tokens[rows], minlength=BUCKETS).astype(np.int64)
        copy += 1
        rows = rows[copies[rows] > copy]
    return total


def _slices(key: np.ndarray, low: int, high: int) -> list[tuple[int, int]]:
    """Return the row ranges whose keys are in [low, high], or in the rest if low is above high."""

    def left(value: int) -> int:
        return int(np.searchsorted(key, np.uint64(value), "left"))

    def right(value: int) -> int:
        return int(np.searchsorted(key, np.uint64(value), "right"))

    if low <= high:
        return [(left(low), right(high))]
    return [(0, right(high)), (left(low), len(key))]


def _documents(
    index: PartIndex, copies: CopiesOf, most_copies: int, low: int, high: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (row, copy) of every document-copy at the positions in [low, high]."""
    rows = [np.empty(0, np.int64)]
    numbers = [np.empty(0, np.int64)]
    for copy in range(most_copies):
        shift = _shift(copy)
        for start, stop in _slices(index.key, (low - shift) & _MASK, (high - shift) & _MASK):
            if start < stop:
                found = start + np.flatnonzero(copies(slice(start, stop)) > copy)
                rows.append(found)
                numbers.append(np.full(len(found), copy, np.int64))
    return np.concatenate(rows), np.concatenate(numbers)


def _between(
    index: PartIndex,
    copies: CopiesOf,
    most_copies: int,
    shard_tokens: int,
    low: int,
    high: int,
) -> Pieces:
    """Return the pieces at the positions in [low, high], in stream order."""
    row, copy = _documents(index, copies, most_copies, low, high)
    length = index.tokens[row].astype(np.int64)
    count = -(-length // shard_tokens)
    of = np.repeat(np.arange(len(row)), count)
    start = (np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)) * shard_tokens
    shifts = np.array([_shift(c) for c in range(most_copies)], np.uint64)
    pieces = Pieces(
        position=(index.key[row] + shifts[copy])[of] if len(row) else np.empty(0, np.uint64),
        uid=index.uid[row][of],
        copy=copy[of],
        start=start,
        tokens=np.minimum(length[of] - start, shard_tokens),
        row=row[of],
    )
    return pieces.take(pieces.order())


def _before(pieces: Pieces, place: Place, shard_tokens: int) -> np.ndarray:
    """Tell which pieces stand before a place, bool[n]."""
    before = pieces.position < np.uint64(place.position)
    for i in np.flatnonzero(pieces.position == np.uint64(place.position)):
        before[i] = pieces.place(int(i), shard_tokens) < place
    return before


def select_bucket(
    index: PartIndex, copies: CopiesOf, most_copies: int, shard_tokens: int, bucket: int
) -> Pieces:
    """Return the pieces of a part whose positions have these top 16 bits, in stream order."""
    low = bucket << _SHIFT
    return _between(index, copies, most_copies, shard_tokens, low, low + (1 << _SHIFT) - 1)


def select_range(
    index: PartIndex,
    copies: CopiesOf,
    most_copies: int,
    shard_tokens: int,
    shard: ShardRange,
) -> Pieces:
    """Return the pieces of a part that belong to a shard, in stream order.

    `most_copies` is a number that no document's copies exceed.
    """
    high = _MASK if shard.stop is None else shard.stop.position
    low = shard.first.position
    pieces = _between(index, copies, most_copies, shard_tokens, low, high)
    inside = ~_before(pieces, shard.first, shard_tokens)
    if shard.stop is not None:
        inside &= _before(pieces, shard.stop, shard_tokens)
    return pieces.take(inside)


def merge_pieces(parts: Sequence[Pieces]) -> tuple[Pieces, np.ndarray]:
    """Merge pieces of several parts: return them in stream order, and the part of each, int64[n].

    `row` stays the row in the piece's own part.
    """
    if not parts:
        none = np.empty(0, np.int64)
        keys, uid = np.empty(0, np.uint64), np.empty((0, 2), np.uint64)
        return Pieces(keys, uid, none, none, none, none), none
    names = ("position", "uid", "copy", "start", "tokens", "row")
    merged = Pieces(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))
    part = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
    order = merged.order()
    return merged.take(order), part[order]
