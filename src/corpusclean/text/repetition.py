"""How much of a text is repeated: n-grams of words, and whole segments.

An n-gram repeats only where the (n-1)-grams at its place and at the next one both repeat, so each
order looks at the places that the order below left over, and most texts are done after a few.
Every order is one pass over its candidates with one open-addressing table: linear in the words,
with no sort and no string.

The table never has more than TABLE_LIMIT slots. More candidates than half of that are taken in
parts by hash, each a pass of its own, so that memory stays bounded for any text.
"""

import numpy as np
from numba import njit

from corpusclean.text.hashing import BASE, KERNEL, mix

__all__ = [
    "LARGEST_ORDER",
    "SMALLEST_ORDER",
    "TABLE_LIMIT",
    "repeated_ngrams",
    "repeated_segments",
    "table_size",
]

SMALLEST_ORDER = 2
LARGEST_TOP_ORDER = 4
"""Up to this order the most frequent n-gram counts, above it every repeated one."""
LARGEST_ORDER = 10

TABLE_LIMIT = 1 << 23
_LEAST_TABLE = 16
_PART_SHIFT = np.uint64(32)
_ONE = np.uint64(1)
_LENGTH_FACTOR = np.uint64(0xD6E8FEB86659FD93)


@njit(**KERNEL)
def table_size(items: int) -> int:
    """Return how many slots are used for so many items: a power of two, mostly twice as many."""
    size = _LEAST_TABLE
    while size < 2 * items and size < TABLE_LIMIT:
        size *= 2
    return size


@njit(**KERNEL)
def _parts(items: int, size: int) -> int:
    """Return into how many parts items are divided for a table, a power of two."""
    parts = 1
    while 2 * items > size * parts:
        parts *= 2
    return parts


@njit(inline="always", **KERNEL)
def _slot(keys: np.ndarray, size: int, key: np.uint64) -> np.int64:
    """Return the slot that holds a key, or the empty one where it belongs."""
    slot = np.int64(key) & (size - 1)
    while keys[slot] != key and keys[slot] != 0:
        slot = (slot + 1) & (size - 1)
    return slot


@njit(**KERNEL)
def repeated_segments(
    hashes: np.ndarray, lengths: np.ndarray, segments: int, keys: np.ndarray
) -> tuple[int, int]:
    """Return how many segments are second or later copies, and the sum of their lengths.

    `keys` is scratch of at least `table_size(segments)` slots.
    """
    size = table_size(segments)
    parts = _parts(segments, size)
    copies = 0
    characters = 0
    for part in range(parts):
        keys[:size] = 0
        held = 0
        for i in range(segments):
            key = mix(hashes[i] + np.uint64(lengths[i]) * _LENGTH_FACTOR)
            if np.int64(key >> _PART_SHIFT) & (parts - 1) != part:
                continue
            key = max(key, _ONE)
            slot = _slot(keys, size, key)
            if keys[slot] == key:
                copies += 1
                characters += lengths[i]
            elif held < size - 1:
                keys[slot] = key
                held += 1
    return copies, characters


@njit(**KERNEL)
def _find_repeated(
    prefix: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    order: int,
    power: np.uint64,
    candidates: np.ndarray,
    size: int,
    repeated: np.ndarray,
    keys: np.ndarray,
    tops: np.ndarray,
) -> np.int64:
    """Set `repeated[k]` where the n-gram at word `candidates[k]` occurs at another one, too.

    Returns the characters covered by the most frequent n-gram, with ties to the one that covers
    most; 0 if none repeats or the order is above LARGEST_TOP_ORDER. `power` is BASE to the power
    of `order`.

    A key is the hash of an n-gram whose low bits, which its slot tells already, are replaced by
    where it occurs first (k + 1) and, above that, by whether it was seen again.
    """
    table = table_size(size)
    parts = _parts(size, table)
    place = np.uint64(1)
    while place < np.uint64(size + 1):
        place = place << _ONE
    seen_again = place
    place -= _ONE
    tag = ~(place | seen_again)
    most = np.int64(0)
    most_covered = np.int64(0)
    for part in range(parts):
        keys[:table] = 0
        held = 0
        for k in range(size):
            word = np.int64(candidates[k])
            h = mix(prefix[word + order] - prefix[word] * power)
            if np.int64(h >> _PART_SHIFT) & (parts - 1) != part:
                continue
            slot = np.int64(h) & (table - 1)
            key = keys[slot]
            while key != 0 and (key ^ h) & tag != 0:
                slot = (slot + 1) & (table - 1)
                key = keys[slot]
            if key == 0:
                repeated[k] = 0
                # The table is never full but for hashes chosen to be so; one slot stays empty.
                if held < table - 1:
                    keys[slot] = (h & tag) | np.uint64(k + 1)
                    held += 1
                continue
            repeated[k] = 1
            if not key & seen_again:
                keys[slot] = key | seen_again
                first = np.int64(key & place) - 1
                repeated[first] = 1
                if order <= LARGEST_TOP_ORDER:
                    other = np.int64(candidates[first])
                    tops[slot, 0] = 1
                    tops[slot, 1] = ends[other + order - 1] - starts[other]
                    tops[slot, 2] = ends[other + order - 1]
            if order <= LARGEST_TOP_ORDER:
                # Occurrences come in order, so an overlap is always with the one before.
                count = np.int64(tops[slot, 0]) + 1
                end = np.int64(ends[word + order - 1])
                covered = tops[slot, 1] + end - max(starts[word], tops[slot, 2])
                tops[slot, 0] = count
                tops[slot, 1] = covered
                tops[slot, 2] = end
                if count > most or (count == most and covered > most_covered):
                    most = count
                    most_covered = covered
    return most_covered


@njit(**KERNEL)
def repeated_ngrams(
    prefix: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    words: int,
    candidates: np.ndarray,
    repeated: np.ndarray,
    keys: np.ndarray,
    tops: np.ndarray,
    covered: np.ndarray,
) -> None:
    """Count the characters that repeated n-grams of words cover, for the orders 2 to 10.

    The words are as `corpusclean.text.words` leaves them. `covered[n - 2]` receives, for n up to
    4, the characters covered by the most frequent n-gram over all its occurrences, and above, the
    characters covered by any n-gram that occurs more than once; characters between the words of
    an n-gram belong to it, and none is counted twice. It must be 0 before. The others are
    scratch: `candidates` and `repeated` of `words` elements, `keys` and `tops` of
    `table_size(words)`, the latter with three columns.
    """
    size = words - 1
    for k in range(size):
        candidates[k] = k
    power = BASE
    for order in range(SMALLEST_ORDER, LARGEST_ORDER + 1):
        if size < 2:
            break
        power *= BASE
        top = _find_repeated(
            prefix, starts, ends, order, power, candidates, size, repeated, keys, tops
        )
        if order <= LARGEST_TOP_ORDER:
            covered[order - SMALLEST_ORDER] = top
        else:
            total = np.int64(0)
            last_end = np.int64(0)
            for k in range(size):
                if repeated[k]:
                    word = np.int64(candidates[k])
                    end = np.int64(ends[word + order - 1])
                    total += end - max(np.int64(starts[word]), last_end)
                    last_end = end
            covered[order - SMALLEST_ORDER] = total
        kept = 0
        for k in range(size - 1):
            if repeated[k] and repeated[k + 1] and candidates[k + 1] == candidates[k] + 1:
                candidates[kept] = candidates[k]
                kept += 1
        size = kept
