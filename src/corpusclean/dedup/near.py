"""Near duplicates: the greedy kept set.

Documents are numbered in keep order, the most preferred first. A document is dropped if and only
if it shares a bucket with an earlier *kept* document that it is similar to. Nothing is merged
through a chain: every dropped document is similar to the very document that is kept for it, and
the outcome depends on the set of documents alone.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from corpusclean.text.hashing import KERNEL
from corpusclean.text.normalise import read_only

__all__ = ["NearDuplicates", "keep_greedily", "least_equal"]

_STEP = 16
"""Values compared before asking whether to go on: a cache line's worth."""


@dataclass(frozen=True)
class NearDuplicates:
    """Which documents are dropped, and for which.

    `duplicate_of` int64[n] is the first kept document that is similar and shares a bucket, or -1
    for a kept document. `cluster_size` int64[n] counts the documents of the cluster, the
    representative included; 1 for a document that is like no other.
    """

    duplicate_of: np.ndarray
    cluster_size: np.ndarray


def keep_greedily(
    buckets: np.ndarray, members: np.ndarray, signatures: np.ndarray, similarity: float
) -> NearDuplicates:
    """Choose the kept set among n documents numbered 0 to n - 1 in keep order.

    Document `members[i]` lies in bucket `buckets[i]` (int64[m], in any order); a bucket of one
    may be left out. `signatures` uint32[n, k] may be a memory map: only rows that share a bucket
    are read. Similar means that the share of equal values is at least `similarity`.

    Memory is O(n + m). A document is compared once with each kept document of its buckets, in
    order, until it is found similar to one: a bucket of identical documents costs one comparison
    a document.
    """
    count, width = signatures.shape
    order = np.lexsort((buckets, members))
    members = np.asarray(members, np.int64)[order]
    if len(members) and not 0 <= members[0] <= members[-1] < count:
        raise ValueError(
            f"members are {members[0]} to {members[-1]}, but there are {count} signatures"
        )
    bucket_count, buckets = _renumbered(np.asarray(buckets, np.int64)[order])
    duplicate_of = np.full(count, -1, np.int64)
    _keep(
        read_only(buckets),
        read_only(members),
        read_only(signatures),
        least_equal(width, similarity),
        np.full(bucket_count, -1, np.int64),
        np.empty(bucket_count, np.int64),
        duplicate_of,
    )
    representative = np.where(duplicate_of < 0, np.arange(count), duplicate_of)
    sizes = np.bincount(representative, minlength=count)
    return NearDuplicates(duplicate_of, sizes[representative])


def least_equal(width: int, similarity: float) -> int:
    """Return the least number of equal values out of `width` whose share reaches `similarity`.

    `width + 1` if none does.
    """
    reached = np.arange(width + 1) / width >= similarity
    return int(np.argmax(reached)) if reached.any() else width + 1


def _renumbered(buckets: np.ndarray) -> tuple[int, np.ndarray]:
    """Number the buckets from 0 without gaps."""
    unique, numbers = np.unique(buckets, return_inverse=True)
    return len(unique), numbers.astype(np.int64, copy=False)


@njit(**KERNEL)
def _similar(signatures: np.ndarray, a: int, b: int, least: int) -> bool:
    """Tell whether at least `least` values are equal; stops when they cannot be any more."""
    width = signatures.shape[1]
    allowed = width - least
    unlike = np.int64(0)
    for begin in range(0, width, _STEP):
        for k in range(begin, min(begin + _STEP, width)):
            unlike += np.int64(signatures[a, k] != signatures[b, k])
        if unlike > allowed:
            return False
    return True


@njit(**KERNEL)
def _keep(
    buckets: np.ndarray,
    members: np.ndarray,
    signatures: np.ndarray,
    least: int,
    first: np.ndarray,
    last: np.ndarray,
    duplicate_of: np.ndarray,
) -> None:
    """Decide document after document.

    The kept documents of a bucket are a linked list in keep order: `first` and `last` hold, for a
    bucket, places in `members`, and `following` the next place of the same bucket.
    """
    size = members.shape[0]
    following = np.full(size, -1, np.int64)
    compared_with = np.full(duplicate_of.shape[0], -1, np.int64)
    begin = 0
    while begin < size:
        document = members[begin]
        end = begin
        while end < size and members[end] == document:
            end += 1
        best = document
        for i in range(begin, end):
            place = first[buckets[i]]
            while place >= 0 and members[place] < best:
                kept = members[place]
                if compared_with[kept] != document:
                    compared_with[kept] = document
                    if _similar(signatures, document, kept, least):
                        best = kept
                place = following[place]
        if best < document:
            duplicate_of[document] = best
        else:
            for i in range(begin, end):
                bucket = buckets[i]
                if first[bucket] < 0:
                    first[bucket] = i
                else:
                    following[last[bucket]] = i
                last[bucket] = i
        begin = end
