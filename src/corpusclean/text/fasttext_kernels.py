"""The kernels of `corpusclean.text.fasttext`.

The sums of short words are kept in a cache under all their bytes: a sum has the same bits with
the cache or without it, and no text has an influence on another.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from corpusclean.text.hashing import KERNEL, mix

__all__ = ["END_WORD", "Tables", "average_rows", "fill_slots"]

_FNV_OFFSET = np.uint32(2166136261)
_FNV_PRIME = np.uint32(16777619)
_NGRAM_FACTOR = np.uint64(116049371)
END_WORD = b"</s>"
_END_KEY = np.uint64(int.from_bytes(END_WORD, "big"))
_END_LENGTH = len(END_WORD)
_LABEL = np.frombuffer(b"__label__", np.uint8)
_LESS = np.uint8(ord("<"))
_GREATER = np.uint8(ord(">"))

_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_ONE = np.uint64(1)
_BYTES = np.uint64(0x0101010101010101)

_SPREAD = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)

_KEY_BYTES = 24
_CACHE_FLOATS = 1 << 19
_FOUND = 1 << 12
_IS_LABEL = -1


def _hash(word: bytes) -> int:
    h = int(_FNV_OFFSET)
    for byte in word:
        h = (h ^ byte) * int(_FNV_PRIME) % 2**32
    return h


_END_HASH = np.uint32(_hash(END_WORD))


class Tables(NamedTuple):
    """A model as the kernel reads it.

    Row w of `rows` is word w. Bucket b of the n-grams has a row if bit b of `bits` is set; those
    rows follow in the order of buckets, and `ranks` counts those before each 64. `slots` is an
    open hash table of words by their FNV hash; -1 is empty. `end_word` is the number of the word
    `</s>`, or -1.
    """

    rows: np.ndarray
    bits: np.ndarray
    ranks: np.ndarray
    slots: np.ndarray
    word_bytes: np.ndarray
    word_starts: np.ndarray
    end_word: int
    is_space: np.ndarray
    buckets: int
    shortest: int
    longest: int
    word_ngrams: int


@njit(inline="always", **KERNEL)
def _fnv(h: np.uint32, byte: np.uint8) -> np.uint32:
    """Take one byte into the library's hash, which treats bytes as signed."""
    return np.uint32((h ^ np.uint32(np.int32(np.int8(byte)))) * _FNV_PRIME)


@njit(**KERNEL)
def fill_slots(blob: np.ndarray, starts: np.ndarray, slots: np.ndarray) -> None:
    mask = slots.shape[0] - 1
    for word in range(starts.shape[0] - 1):
        h = _FNV_OFFSET
        for i in range(starts[word], starts[word + 1]):
            h = _fnv(h, blob[i])
        slot = np.int64(h) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word


@njit(inline="always", **KERNEL)
def _find_word(
    data: np.ndarray,
    start: int,
    length: int,
    h: np.uint32,
    slots: np.ndarray,
    word_bytes: np.ndarray,
    word_starts: np.ndarray,
) -> int:
    """Return the number of a known word, or -1."""
    slot = np.int64(h) & (slots.shape[0] - 1)
    while slots[slot] >= 0:
        word = slots[slot]
        first = word_starts[word]
        if word_starts[word + 1] - first == length:
            same = 0
            while same < length and word_bytes[first + same] == data[start + same]:
                same += 1
            if same == length:
                break
        slot = (slot + 1) & (slots.shape[0] - 1)
    return slots[slot]


@njit(inline="always", **KERNEL)
def _ones(bits: np.uint64) -> np.int64:
    """Count the bits that are set."""
    bits -= (bits >> np.uint64(1)) & _ODD
    bits = (bits & _PAIRS) + ((bits >> np.uint64(2)) & _PAIRS)
    bits = (bits + (bits >> np.uint64(4))) & _NIBBLES
    return np.int64((bits * _BYTES) >> np.uint64(56))


@njit(inline="always", **KERNEL)
def _has_row(bits: np.ndarray, bucket: int) -> np.int64:
    """Return 1 if a bucket has a row, else 0."""
    return np.int64((bits[bucket >> 6] >> np.uint64(bucket & 63)) & _ONE)


@njit(inline="always", **KERNEL)
def _row(bits: np.ndarray, ranks: np.ndarray, bucket: int) -> int:
    """Return the row, counted from the words' end, of a bucket that has one."""
    below = (_ONE << np.uint64(bucket & 63)) - _ONE
    return ranks[bucket >> 6] + _ones(bits[bucket >> 6] & below)


@njit(inline="always", **KERNEL)
def _is_label(data: np.ndarray, start: int, stop: int) -> bool:
    same = 0
    while same < _LABEL.shape[0] and start + same < stop and data[start + same] == _LABEL[same]:
        same += 1
    return same == _LABEL.shape[0]


@njit(**KERNEL)
def _find_ngrams(
    word: np.ndarray,
    begin: int,
    length: int,
    shortest: int,
    longest: int,
    buckets: int,
    bits: np.ndarray,
    found: np.ndarray,
) -> tuple[int, int]:
    """Write the buckets with a row of the character n-grams of a word, those begun from `begin` on.

    Returns where it stopped, for want of room or at `length`, and how many buckets it found.
    """
    modulus = np.uint32(buckets)
    count = 0
    while begin < length and count + longest <= found.shape[0]:
        if word[begin] & 0xC0 == 0x80:
            begin += 1
            continue
        h = _FNV_OFFSET
        end = begin
        size = 1
        while end < length and size <= longest:
            h = _fnv(h, word[end])
            end += 1
            while end < length and word[end] & 0xC0 == 0x80:
                h = _fnv(h, word[end])
                end += 1
            if size >= shortest and not (size == 1 and (begin == 0 or end == length)):
                # Written always and counted if it has a row: no branch to guess.
                found[count] = np.int64(h % modulus)
                count += _has_row(bits, found[count])
            size += 1
        begin += 1
    return begin, count


@njit(**KERNEL)
def _extend_word_ngrams(
    running: np.ndarray,
    seen: int,
    h: np.uint32,
    buckets: int,
    bits: np.ndarray,
    found: np.ndarray,
) -> int:
    """Write the buckets with a row of the word n-grams that end in the text's word `seen`.

    `running` holds the hash of the n-gram begun at each of the last words, by the word's number
    modulo its length. Word hashes are signed 32-bit numbers to the library, extended to 64 bits.
    """
    count = 0
    size = running.shape[0]
    extended = np.uint64(np.int64(np.int32(h)))
    for back in range(1, min(size, seen + 1)):
        slot = (seen - back) % size
        running[slot] = running[slot] * _NGRAM_FACTOR + extended
        found[count] = np.int64(running[slot] % np.uint64(buckets))
        count += _has_row(bits, found[count])
    running[seen % size] = extended
    return count


@njit(inline="always", **KERNEL)
def _read_word(
    data: np.ndarray, start: int, stop: int, is_space: np.ndarray
) -> tuple[int, np.uint64, np.uint64, np.uint64]:
    """Return where the word at `start` ends, and its first 24 bytes as three numbers."""
    i = start
    low, middle, high = np.uint64(0), np.uint64(0), np.uint64(0)
    while i < stop and not is_space[data[i]] and i < start + 8:
        low = low << np.uint64(8) | np.uint64(data[i])
        i += 1
    while i < stop and not is_space[data[i]] and i < start + 16:
        middle = middle << np.uint64(8) | np.uint64(data[i])
        i += 1
    while i < stop and not is_space[data[i]] and i < start + _KEY_BYTES:
        high = high << np.uint64(8) | np.uint64(data[i])
        i += 1
    while i < stop and not is_space[data[i]]:
        i += 1
    return i, low, middle, high


@njit(inline="always", **KERNEL)
def _mark(data: np.ndarray, start: int, stop: int, marked: np.ndarray) -> np.uint32:
    """Write a word between `<` and `>` to `marked`; return the hash of the word alone."""
    h = _FNV_OFFSET
    marked[0] = _LESS
    for i in range(start, stop):
        h = _fnv(h, data[i])
        marked[i - start + 1] = data[i]
    marked[stop - start + 1] = _GREATER
    return h


@njit(**KERNEL)
def average_rows(
    data: np.ndarray,
    offsets: np.ndarray,
    tables: Tables,
    hidden: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Write the average row of every text to `hidden`, and the number of rows to `counts`."""
    # Taken out of the tuple once: taking an array out counts a reference.
    rows, bits, ranks, is_space = tables.rows, tables.bits, tables.ranks, tables.is_space
    slots, word_bytes, word_starts = tables.slots, tables.word_bytes, tables.word_starts
    shortest, longest, buckets = tables.shortest, tables.longest, tables.buckets
    words = word_starts.shape[0] - 1
    width = rows.shape[1]
    cached = 64
    while cached * 2 * width <= _CACHE_FLOATS:
        cached *= 2
    keys = np.zeros((cached, 3), np.uint64)
    # The last slot is the scratch of words that are too long to be kept.
    sums = np.empty((cached + 1, width), np.float32)
    row_counts = np.empty(cached + 1, np.int32)
    hashes = np.empty(cached + 1, np.uint32)
    marked = np.empty(1024, np.uint8)
    found = np.empty(max(_FOUND, longest, tables.word_ngrams), np.int64)
    running = np.zeros(max(tables.word_ngrams, 1), np.uint64)
    for text in range(offsets.shape[0] - 1):
        i = offsets[text]
        stop = offsets[text + 1]
        hidden[text] = 0.0
        total = 0
        seen = 0
        ended = False
        while not ended:
            while i < stop and is_space[data[i]]:
                i += 1
            start = i
            i, low, middle, high = _read_word(data, start, stop, is_space)
            ended = i == start or (low == _END_KEY and i - start == _END_LENGTH)
            slot = np.int64(cached)
            known = False
            if not ended and i - start <= _KEY_BYTES:
                spread = low * _SPREAD[0] ^ middle * _SPREAD[1] ^ high * _SPREAD[2]
                slot = np.int64(mix(spread) & np.uint64(cached - 1))
                known = keys[slot, 0] == low and keys[slot, 1] == middle and keys[slot, 2] == high
                keys[slot, 0] = low
                keys[slot, 1] = middle
                keys[slot, 2] = high
            if not known:
                count = 0
                sums[slot] = np.float32(0)
                length = i - start + 2
                begin = length
                if ended:
                    h = _END_HASH
                    word = tables.end_word
                else:
                    if length > marked.shape[0]:
                        marked = np.empty(2 * length, np.uint8)
                    h = _mark(data, start, i, marked)
                    word = _find_word(data, start, i - start, h, slots, word_bytes, word_starts)
                    if longest > 0:
                        begin = 0
                if word >= 0:
                    count = 1
                    for k in range(width):
                        sums[slot, k] += rows[word, k]
                while begin < length:
                    begin, more = _find_ngrams(
                        marked, begin, length, shortest, longest, buckets, bits, found
                    )
                    count += more
                    for j in range(more):
                        row = words + _row(bits, ranks, found[j])
                        for k in range(width):
                            sums[slot, k] += rows[row, k]
                row_counts[slot] = _IS_LABEL if _is_label(data, start, i) else count
                hashes[slot] = h
            if row_counts[slot] != _IS_LABEL:
                total += row_counts[slot]
                for k in range(width):
                    hidden[text, k] += sums[slot, k]
                if tables.word_ngrams > 1:
                    h = hashes[slot]
                    more = _extend_word_ngrams(running, seen, h, buckets, bits, found)
                    total += more
                    for j in range(more):
                        row = words + _row(bits, ranks, found[j])
                        for k in range(width):
                            hidden[text, k] += rows[row, k]
                seen += 1
        counts[text] = total
        if total:
            for k in range(width):
                hidden[text, k] /= total
