"""Which shard each piece of the stream belongs to.

No shard is empty and none exceeds `shard_tokens` (pieces never do, see `stream`):

1. The stream of T tokens is divided equally: a piece that starts at token t goes to cell
   floor(t · K / T). K is the fewest, ceil(T / shard_tokens), if that leaves no cell above
   `shard_tokens`; else ceil(T / (shard_tokens - slack)), where the slack is the longest piece, but
   at most an eighth of `shard_tokens`.
2. A cell that is still too large, which takes a piece above that eighth, is cut further: each
   time after as many pieces as fit.
3. Neighbours that fit together in one shard are joined, from the front; empty cells vanish.

So two neighbours never fit together in one shard, hence there are at most about twice as many
shards as the fewest; and if no document exceeds an eighth of `shard_tokens`, no shard holds more
than twice the tokens of another.

The plan needs a histogram of tokens by the top 16 bits of the position, and of the pieces
themselves only those in buckets where a boundary falls, one bucket at a time.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np

from corpusclean.errors import ShardError
from corpusclean.shards.stream import Pieces, Place, ShardRange

__all__ = ["plan_shards"]

Refine = Callable[[int], Pieces]
Boundary = tuple[int, Place | None]
"""A token offset at which a piece starts, and its place; None at the end of the stream."""


def plan_shards(
    histogram: np.ndarray, longest: int, shard_tokens: int, refine: Refine
) -> list[ShardRange]:
    """Divide the stream into shards; none for a stream without tokens.

    `histogram` int64[65536] is the tokens by bucket of position, `longest` the tokens of the
    longest document that is emitted, `refine` gives the pieces of a bucket in stream order. Raises
    ShardError if a bucket's pieces do not hold the tokens of the histogram.
    """
    stream = _Stream(histogram, shard_tokens, refine)
    if stream.total == 0:
        return []
    boundaries = _joined(_fitting(_cells(stream, longest), stream), shard_tokens)
    shards = []
    for (start, first), (stop, place) in pairwise(boundaries):
        assert first is not None
        shards.append(ShardRange(first, place, stop - start))
    return shards


class _Stream:
    """Finds boundaries of the stream near a token offset."""

    def __init__(self, histogram: np.ndarray, shard_tokens: int, refine: Refine) -> None:
        self.shard_tokens = shard_tokens
        self._filled = np.flatnonzero(histogram)
        self._ends = np.cumsum(histogram[self._filled])
        self._tokens = histogram[self._filled]
        self._refine = refine
        self.total = int(self._ends[-1]) if len(self._ends) else 0
        self._bucket = lru_cache(maxsize=2)(self._load)

    def _load(self, i: int) -> tuple[np.ndarray, Pieces]:
        """Return the token offsets at which the pieces of filled bucket i start, and the pieces."""
        pieces = self._refine(int(self._filled[i]))
        found, expected = int(pieces.tokens.sum()), int(self._tokens[i])
        if found != expected:
            raise ShardError(
                f"token parts: bucket {int(self._filled[i])} of the order keys holds {found:,} "
                f"tokens, its histogram says {expected:,}; delete work/mix and run again"
            )
        start = int(self._ends[i]) - expected
        return start + np.cumsum(pieces.tokens) - pieces.tokens, pieces

    def at_or_before(self, offset: int) -> Boundary:
        """Return the last boundary at or before an offset in [0, total)."""
        bucket = int(np.searchsorted(self._ends, offset, "right"))
        starts, pieces = self._bucket(bucket)
        i = int(np.searchsorted(starts, offset, "right")) - 1
        return int(starts[i]), pieces.place(i, self.shard_tokens)

    def at_or_after(self, offset: int) -> Boundary:
        """Return the first boundary at or after an offset in [0, total]."""
        if offset >= self.total:
            return self.total, None
        bucket = int(np.searchsorted(self._ends, offset, "right"))
        starts, pieces = self._bucket(bucket)
        i = int(np.searchsorted(starts, offset, "left"))
        if i == len(starts):
            return self.at_or_after(int(self._ends[bucket]))
        return int(starts[i]), pieces.place(i, self.shard_tokens)


def _equal(stream: _Stream, count: int) -> Iterator[Boundary]:
    """Yield the boundaries of an equal division into `count` cells, without empty ones."""
    last = -1
    for i in range(count + 1):
        boundary = stream.at_or_after(-(-i * stream.total // count))
        if boundary[0] > last:
            yield boundary
            last = boundary[0]


def _cells(stream: _Stream, longest: int) -> Iterable[Boundary]:
    """Return the boundaries of step 1."""
    limit, fewest = stream.shard_tokens, -(-stream.total // stream.shard_tokens)
    chosen: list[Boundary] = []
    for boundary in _equal(stream, fewest):
        if chosen and boundary[0] - chosen[-1][0] > limit:
            return _equal(stream, -(-stream.total // (limit - min(longest, limit // 8))))
        chosen.append(boundary)
    return chosen


def _fitting(cells: Iterable[Boundary], stream: _Stream) -> Iterator[Boundary]:
    """Yield the boundaries of cells and, within those above the limit, more (step 2)."""
    last = None
    for boundary in cells:
        while last is not None and boundary[0] - last > stream.shard_tokens:
            cut = stream.at_or_before(last + stream.shard_tokens)
            yield cut
            last = cut[0]
        yield boundary
        last = boundary[0]


def _joined(boundaries: Iterable[Boundary], limit: int) -> list[Boundary]:
    """Leave out the boundaries between neighbours that fit together (step 3)."""
    kept: list[Boundary] = []
    previous: Boundary | None = None
    for boundary in boundaries:
        if previous is None or boundary[0] - kept[-1][0] > limit:
            kept.append(boundary if previous is None else previous)
        previous = boundary
    assert previous is not None
    return [*kept, previous]
