"""From the tokens planned for a source to the number of copies of each of its documents.

A source of c tokens that is to give T gives every document floor(T / c) times, and once more the
documents that come first by (choose key, uid), as many as bring the rest R = T mod c nearest: the
prefix whose tokens differ least from R, the shorter one where two differ equally. So a source
never misses its target by more than half a document.

The prefix is found to the last document without sorting them all, by radix: a histogram of tokens
over the top 16 bits of the key says in which of 65536 buckets R is crossed, and only the documents
of that bucket are sorted. Histograms of parts are added together.
"""

from dataclasses import dataclass

import numpy as np

from corpusclean.errors import SupplyError

__all__ = [
    "BUCKETS",
    "Threshold",
    "choose_histogram",
    "copies_of",
    "crossing_bucket",
    "exact_threshold",
    "whole_copies",
]

BUCKETS = 1 << 16
_SHIFT = np.uint64(48)
_LAST = 2**64 - 1


@dataclass(frozen=True)
class Threshold:
    """The last (choose key, uid) that is taken once more; `uid` is two big-endian halves."""

    choose: int
    uid: tuple[int, int]


def whole_copies(tokens: int, available: int) -> tuple[int, int]:
    """Return (copies of every document, tokens that are left for some of them).

    Raises SupplyError if there is something to give and nothing available.
    """
    if available == 0:
        if tokens:
            raise SupplyError(f"{tokens:,} tokens are to come from a source that holds none")
        return 0, 0
    return divmod(tokens, available)


def choose_histogram(choose: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Return the tokens of documents by the top 16 bits of their key, int64[65536].

    `choose` is uint64[n], `tokens` int64[n]. Exact below 2**53 tokens.
    """
    bucket = (choose >> _SHIFT).astype(np.int64)
    return np.bincount(bucket, weights=tokens, minlength=BUCKETS).astype(np.int64)


def crossing_bucket(histogram: np.ndarray, remainder: int) -> tuple[int, int]:
    """Return (bucket, tokens before it) of the first bucket whose end reaches `remainder`.

    Raises SupplyError if all buckets together hold less.
    """
    ends = np.cumsum(histogram)
    if remainder > int(ends[-1]):
        raise SupplyError(f"{remainder:,} tokens are to be chosen of {int(ends[-1]):,}")
    bucket = int(np.searchsorted(ends, remainder))
    return bucket, int(ends[bucket] - histogram[bucket])


def exact_threshold(
    choose: np.ndarray, uid: np.ndarray, tokens: np.ndarray, remainder: int
) -> Threshold | None:
    """Return the bound up to which the documents are chosen; None if none is.

    The arrays (uint64[n], uint64[n, 2], int64[n], in any order) are the documents of the crossing
    bucket, `remainder` is what is left after the buckets before it. If no document of the bucket
    is chosen, the bound is the last place before the bucket.
    """
    order = np.lexsort((uid[:, 1], uid[:, 0], choose))
    sums = np.concatenate(([0], np.cumsum(tokens[order], dtype=np.int64)))
    taken = int(np.argmin(np.abs(sums - remainder)))
    if taken:
        last = order[taken - 1]
        return Threshold(int(choose[last]), (int(uid[last, 0]), int(uid[last, 1])))
    bucket = int(choose[0] >> _SHIFT) if len(choose) else 0
    return Threshold((bucket << 48) - 1, (_LAST, _LAST)) if bucket else None


def copies_of(
    choose: np.ndarray, uid: np.ndarray, whole: int, threshold: Threshold | None
) -> np.ndarray:
    """Return how many copies of each document are emitted, int64[n]."""
    copies = np.full(len(choose), whole, np.int64)
    if threshold is not None:
        last, (high, low) = np.uint64(threshold.choose), map(np.uint64, threshold.uid)
        copies += choose < last
        tie = np.flatnonzero(choose == last)
        first, second = uid[tie, 0], uid[tie, 1]
        copies[tie] += (first < high) | ((first == high) & (second <= low))
    return copies
