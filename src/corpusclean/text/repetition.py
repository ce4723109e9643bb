"""How much of a text is repeated: n-grams of words, and whole segments.

An n-gram repeats only where the (n-1)-grams at its place and at the next one both repeat, so each
order looks at the places that the order below left over, and most texts are done after a few.
Every order is one pass over its candidates with one open-addressing table: linear in the words,
with no sort and no string.

The table never has more than TABLE_LIMIT slots. When a text has more different n-grams than that,
they are taken in parts by hash, each a pass of its own, so that memory stays bounded.
"""

import numpy as np
from numba import njit

from corpusclean.text.hashing import BASE, KERNEL, mix

__all__ = [
    "LARGEST_ORDER",
    "LARGEST_TOP_ORDER",
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
"""Slots of the largest table."""
MOST_PARTS = 1 << 10
"""Enough for any text under 2 GiB, but for hashes that somebody has chosen: of those, what finds
no slot any more counts as not repeated."""
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
def _count_copies(
    hashes: np.ndarray,
    lengths: np.ndarray,
    segments: int,
    keys: np.ndarray,
    part: int,
    parts: int,
    copies: np.ndarray,
) -> bool:
    """Add the copies of one part of the segments; return whether the table was large enough."""
    table = table_size(segments)
    room = table - table // 4
    held = 0
    keys[:table] = 0
    for i in range(segments):
        h = mix(hashes[i] + np.uint64(lengths[i]) * _LENGTH_FACTOR)
        if np.int64(h >> _PART_SHIFT) & (parts - 1) != part:
            continue
        h = max(h, _ONE)
        slot = np.int64(h) & (table - 1)
        while keys[slot] != h and keys[slot] != 0:
            slot = (slot + 1) & (table - 1)
        if keys[slot] == h:
            copies[0] += 1
            copies[1] += lengths[i]
        elif held < room:
            keys[slot] = h
            held += 1
        elif parts < MOST_PARTS:
            return False
    return True


@njit(**KERNEL)
def repeated_segments(
    hashes: np.ndarray, lengths: np.ndarray, segments: int, keys: np.ndarray, copies: np.ndarray
) -> None:
    """Count the segments that are second or later copies, and the sum of their lengths.

    They go to `copies[0]` and `copies[1]`; `keys` is scratch of `table_size(segments)` elements.
    """
    part = 0
    parts = 1
    copies[:] = 0
    while part < parts:
        fits = _count_copies(hashes, lengths, segments, keys, part, parts, copies)
        part += 1
        if not fits:
            copies[:] = 0
            part = 0
            parts *= 4


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
    part: int,
    parts: int,
    top: np.ndarray,
) -> bool:
    """Set `repeated[k]` where the n-gram at word `candidates[k]` occurs at another one, too.

    Only n-grams of the given part are looked at; returns whether the table was large enough for
    them. `power` is BASE to the power of `order`. Up to LARGEST_TOP_ORDER, `top` is raised to
    the count of the most frequent n-gram and the characters that it covers, ties to the larger.

    A key is the hash of an n-gram without its low bits, which its slot tells already. Their place
    is taken by where it occurs first (k + 1), and once it has occurred again, by a mark and its
    row of `tops`: how often it occurs, the characters that it covers, the end of the last one.
    """
    table = table_size(size)
    room = table - table // 4
    place = _ONE
    while place <= np.uint64(size):
        place = place << _ONE
    again = place
    place -= _ONE
    tag = ~(place | again)
    most = top[0]
    most_covered = top[1]
    held = 0
    rows = np.int64(0)
    keys[:table] = 0
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
            if held == room:
                if parts == MOST_PARTS:
                    continue
                return False
            keys[slot] = (h & tag) | np.uint64(k + 1)
            held += 1
            continue
        repeated[k] = 1
        row = np.int64(key & place)
        if not key & again:
            repeated[row - 1] = 1
            if order <= LARGEST_TOP_ORDER:
                first = np.int64(candidates[row - 1])
                end = np.int64(ends[first + order - 1])
                row = rows
                rows += 1
                tops[row, 0] = 1
                tops[row, 1] = end - starts[first]
                tops[row, 2] = end
            keys[slot] = (h & tag) | again | np.uint64(row)
        if order <= LARGEST_TOP_ORDER:
            # Occurrences come in order, so an overlap is always with the one before.
            count = np.int64(tops[row, 0]) + 1
            end = np.int64(ends[word + order - 1])
            covered = tops[row, 1] + end - max(starts[word], tops[row, 2])
            tops[row, 0] = count
            tops[row, 1] = covered
            tops[row, 2] = end
            if count > most or (count == most and covered > most_covered):
                most = count
                most_covered = covered
    top[0] = most
    top[1] = most_covered
    return True


@njit(**KERNEL)
def _narrow(
    starts: np.ndarray,
    ends: np.ndarray,
    order: int,
    candidates: np.ndarray,
    size: int,
    repeated: np.ndarray,
) -> tuple[int, np.int64]:
    """Keep the candidates of the next order, in place.

    Returns their number, and the characters that all repeated n-grams of this order cover.
    """
    kept = 0
    covered = np.int64(0)
    last_end = np.int64(0)
    repeated[size] = 0
    for k in range(size):
        if repeated[k]:
            word = np.int64(candidates[k])
            end = np.int64(ends[word + order - 1])
            covered += end - max(np.int64(starts[word]), last_end)
            last_end = end
            candidates[kept] = word
            if repeated[k + 1] and candidates[k + 1] == word + 1:
                kept += 1
    return kept, covered


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
    top = np.zeros(2, np.int64)
    power = BASE
    for order in range(SMALLEST_ORDER, LARGEST_ORDER + 1):
        if size < 2:
            break
        power *= BASE
        top[:] = 0
        part = 0
        parts = 1
        while part < parts:
            fits = _find_repeated(
                prefix,
                starts,
                ends,
                order,
                power,
                candidates,
                size,
                repeated,
                keys,
                tops,
                part,
                parts,
                top,
            )
            part += 1
            if not fits:
                top[:] = 0
                part = 0
                parts *= 4
        size, together = _narrow(starts, ends, order, candidates, size, repeated)
        covered[order - SMALLEST_ORDER] = top[1] if order <= LARGEST_TOP_ORDER else together
