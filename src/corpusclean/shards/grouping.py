"""Dividing a stream of documents into groups, as files and row groups need them.

Groups depend on the documents alone, not on how many of them arrive at once.
"""

from collections.abc import Iterator

import numpy as np

__all__ = ["Grouping"]


class Grouping:
    """Collects documents; a group is as many as fit within `limit`, at least one."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._cost = 0
        self._ids: list[np.ndarray] = []
        self._sizes: list[np.ndarray] = []

    def add(
        self, ids: np.ndarray, sizes: np.ndarray, costs: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Take documents and yield the groups (ids, lengths) that are full; to be exhausted.

        `sizes` int64[n] in tokens, `costs` int64[n] what each document counts against the limit.
        """
        ends, stops = np.cumsum(costs), np.cumsum(sizes)
        first = begin = done = 0
        while True:
            room = done + self._limit - self._cost
            last = int(np.searchsorted(ends, room, "right"))
            if last == first and not self._sizes:
                last += 1
            stop = int(stops[last - 1]) if last else 0
            if last > first:
                # A copy: the caller may use its buffer again, and a slice would keep all of it.
                self._ids.append(ids[begin:stop].copy())
                self._sizes.append(sizes[first:last])
                self._cost += int(ends[last - 1]) - done
                first, begin, done = last, stop, int(ends[last - 1])
            if first == len(sizes):
                return
            yield self.rest()

    def rest(self) -> tuple[np.ndarray, np.ndarray]:
        """Return and forget what was collected; empty arrays if there is nothing."""
        ids, sizes = self._ids, self._sizes
        self._ids, self._sizes, self._cost = [], [], 0
        if not sizes:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate(ids), np.concatenate(sizes)
