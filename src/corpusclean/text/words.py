"""Characters and words: one pass over the UTF-8 bytes of a text.

Two kinds of words are told apart. A *Unicode word* is what `re.findall(r"\\w+|[^\\w\\s]", text)`
finds: a run of word characters, or any other single character that is not whitespace. A
*whitespace word* is what `str.split` finds. Whitespace words are runs of adjacent Unicode words,
so one scan writes the Unicode words, and `join_words` turns them into the others in place.

A word is kept as a 64-bit hash and the half-open range of characters that it covers. The hash
has its low bits replaced: bit 0 says that the word holds a letter, bits 1 to 4 which stop word it
is (0: none). The hashes are stored as a polynomial prefix, `prefix[t + 1] = prefix[t] * BASE +
hash[t]`, from which the hash of any run of words follows without a loop.
"""

import numpy as np
from numba import njit

from corpusclean.text.hashing import BASE, KERNEL, mix
from corpusclean.text.unicode_classes import (
    ALPHABETIC,
    BLOCK_BITS,
    CJK,
    CONTROL,
    DIGIT,
    PRIVATE_USE,
    REPLACEMENT,
    UNASSIGNED,
    UPPERCASE,
    WHITESPACE,
    WORD,
    ClassTable,
)

__all__ = [
    "CHARACTER_COUNTS",
    "STOP_WORDS",
    "WORD_COUNTS",
    "ascii_tallies",
    "count_words",
    "join_words",
    "scan_words",
]

CHARACTER_COUNTS = (
    "characters",
    "visible",
    "whitespace",
    "letters",
    "digits",
    "uppercase",
    "cjk",
    "control",
    "replacement",
    "private_use",
    "unassigned",
    "hashes",
    "ellipses",
    "newlines",
)
"""What `scan_words` counts, in its order; visible characters are those that are not whitespace."""

(
    _CHARACTERS,
    _VISIBLE,
    _WHITESPACE,
    _LETTERS,
    _DIGITS,
    _UPPERCASE,
    _CJK,
    _CONTROL,
    _REPLACEMENT,
    _PRIVATE_USE,
    _UNASSIGNED,
    _HASHES,
    _ELLIPSES,
    _NEWLINES,
) = range(len(CHARACTER_COUNTS))

WORD_COUNTS = ("words", "alphabetic_words", "stop_words", "longest_word")
"""What `join_words` counts for each kind of word, in its order."""

_WORDS, _ALPHABETIC_WORDS, _STOP_WORDS, _LONGEST_WORD = range(len(WORD_COUNTS))

STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
"""The English stop words of Gopher (Rae et al. 2021, arXiv:2112.11446, appendix A.1.1)."""

_LONGEST_STOP_WORD = 4
_STOP_KEYS = np.array([int.from_bytes(w.encode(), "big") for w in STOP_WORDS], np.int64)
_STOP_SLOTS = next(n for n in range(8, 100) if len(set(_STOP_KEYS % n)) == len(STOP_WORDS))
_STOP_TABLE = np.zeros((_STOP_SLOTS, 2), np.int64)
"""Key and number (from 1) of each stop word, at the key modulo a size that keeps them apart."""
_STOP_TABLE[_STOP_KEYS % _STOP_SLOTS, 0] = _STOP_KEYS
_STOP_TABLE[_STOP_KEYS % _STOP_SLOTS, 1] = np.arange(len(STOP_WORDS)) + 1

_BASE_2 = np.uint64(int(BASE) * int(BASE) % 2**64)
_ONE = np.uint64(1)
_FLAGS = np.uint64(31)
_STOP_BITS = np.uint64(15)

_FIELD = 21
_FIELD_MASK = np.uint64((1 << _FIELD) - 1)
_DIGIT_SHIFT = np.uint64(_FIELD)
_UPPERCASE_SHIFT = np.uint64(2 * _FIELD)
_LONGEST_RUN = 1 << 20
"""Bytes whose tallies are added up at once, so that no field runs over."""

_SPACE = ord(" ")
_NUMBER_SIGN = ord("#")
_FULL_STOP = ord(".")
_ELLIPSIS = ord("…")
_NEWLINE = ord("\n")
_BLOCK_MASK = (1 << BLOCK_BITS) - 1
_RARE = CONTROL | UNASSIGNED | PRIVATE_USE | REPLACEMENT


def ascii_tallies(table: ClassTable) -> np.ndarray:
    """Return for each byte what it adds to the counts if it is an ASCII word character, else 0.

    Three fields of 21 bits count letters, digits and upper case; bit 63 makes that of the
    underscore differ from 0, and may run over.
    """
    tallies = np.zeros(256, np.uint64)
    for byte, bits in enumerate(table.classes(np.arange(128)).tolist()):
        if bits & WORD:
            tallies[byte] = (
                (1 << 63)
                | bool(bits & ALPHABETIC)
                | bool(bits & DIGIT) << _FIELD
                | bool(bits & UPPERCASE) << 2 * _FIELD
            )
    return tallies


@njit(inline="always", **KERNEL)
def _decode(data: np.ndarray, i: int) -> tuple[np.int64, int]:
    """Return the code point that begins at byte i, and where the next one begins."""
    byte = np.int64(data[i])
    if byte < 0x80:
        return byte, i + 1
    if byte < 0xE0:
        return (byte & 31) << 6 | (np.int64(data[i + 1]) & 63), i + 2
    middle = np.int64(data[i + 1]) & 63
    if byte < 0xF0:
        return (byte & 15) << 12 | middle << 6 | (np.int64(data[i + 2]) & 63), i + 3
    low = (np.int64(data[i + 2]) & 63) << 6 | (np.int64(data[i + 3]) & 63)
    return (byte & 7) << 18 | middle << 12 | low, i + 4


@njit(**KERNEL)
def _stop_word(data: np.ndarray, start: int, stop: int) -> np.uint64:
    """Return the number of the stop word in these 2 to 4 bytes, whatever its case, or 0."""
    key = np.int64(0)
    for i in range(start, stop):
        # Only letters become lower-case letters by setting this bit.
        key = key << 8 | (np.int64(data[i]) | 0x20)
    slot = key % _STOP_SLOTS
    return np.uint64(_STOP_TABLE[slot, 1]) if _STOP_TABLE[slot, 0] == key else np.uint64(0)


@njit(inline="always", **KERNEL)
def _word_hash(
    data: np.ndarray, start: int, stop: int, h: np.uint64, lettered: np.uint64
) -> np.uint64:
    """Finish the hash of the word in the bytes [start, stop), with its flags."""
    flags = np.uint64(0)
    if lettered:
        flags = _ONE
        if 2 <= stop - start <= _LONGEST_STOP_WORD:
            flags |= _stop_word(data, start, stop) << _ONE
    return (mix(h) & ~_FLAGS) | flags


@njit(**KERNEL)
def count_words(
    data: np.ndarray, start: int, stop: int, index: np.ndarray, entries: np.ndarray
) -> int:
    """Return the number of Unicode words in the bytes [start, stop)."""
    words = 0
    inside = False
    i = start
    while i < stop:
        code_point, i = _decode(data, i)
        block = np.int64(index[code_point >> BLOCK_BITS]) << BLOCK_BITS
        classes = np.int64(entries[block | (code_point & _BLOCK_MASK)])
        is_word = (classes & WORD) != 0
        words += (classes & WHITESPACE) == 0 and not (is_word and inside)
        inside = is_word
    return words


@njit(**KERNEL)
def scan_words(
    data: np.ndarray,
    start: int,
    stop: int,
    index: np.ndarray,
    entries: np.ndarray,
    tallies: np.ndarray,
    prefix: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    counts: np.ndarray,
) -> int:
    """Write the Unicode words of the text in the bytes [start, stop); return their number.

    `prefix` needs room for one element more than there are words, `starts` and `ends` (in
    characters) for one each; `counts` receives CHARACTER_COUNTS, and must be 0 before.
    """
    words = 0
    position = 0  # in characters
    prefix[0] = np.uint64(0)
    inside = False
    begin = start
    h = np.uint64(0)
    lettered = np.uint64(0)
    letters = digits = uppercase = np.int64(0)
    cjk = whitespace = 0
    dots = 0
    dots_end = -1
    i = start
    while i < stop:
        if tallies[data[i]]:
            if not inside:
                inside = True
                begin = i
                starts[words] = position
                h = np.uint64(0)
                lettered = np.uint64(0)
            first = i
            limit = min(stop, i + _LONGEST_RUN)
            run = np.uint64(0)
            while i + 1 < limit:
                x = tallies[data[i]]
                y = tallies[data[i + 1]]
                if x == 0 or y == 0:
                    break
                pair = (np.uint64(data[i]) + _ONE) * BASE + np.uint64(data[i + 1]) + _ONE
                h = h * _BASE_2 + pair
                run += x + y
                i += 2
            if i < limit:
                x = tallies[data[i]]
                if x:
                    h = h * BASE + np.uint64(data[i]) + _ONE
                    run += x
                    i += 1
            position += i - first
            lettered |= run & _FIELD_MASK
            letters += np.int64(run & _FIELD_MASK)
            digits += np.int64(run >> _DIGIT_SHIFT & _FIELD_MASK)
            uppercase += np.int64(run >> _UPPERCASE_SHIFT & _FIELD_MASK)
            continue
        here = i
        if data[i] == _SPACE:  # as the table has it, but most frequent by far
            code_point = np.int64(_SPACE)
            classes = np.int64(WHITESPACE)
            i += 1
        else:
            code_point, i = _decode(data, i)
            block = np.int64(index[code_point >> BLOCK_BITS]) << BLOCK_BITS
            classes = np.int64(entries[block | (code_point & _BLOCK_MASK)])
        if classes & WORD:
            if not inside:
                inside = True
                begin = here
                starts[words] = position
                h = np.uint64(0)
                lettered = np.uint64(0)
            h = h * BASE + np.uint64(code_point) + _ONE
            lettered |= np.uint64(classes & ALPHABETIC)
            letters += (classes & ALPHABETIC) != 0
            digits += (classes & DIGIT) != 0
            uppercase += (classes & UPPERCASE) != 0
            cjk += (classes & CJK) != 0
        else:
            if inside:
                inside = False
                ends[words] = position
                prefix[words + 1] = prefix[words] * BASE + _word_hash(
                    data, begin, here, h, lettered
                )
                words += 1
            if classes & WHITESPACE:
                whitespace += 1
                counts[_NEWLINES] += code_point == _NEWLINE
            else:
                starts[words] = position
                ends[words] = position + 1
                h = np.uint64(code_point) + _ONE
                prefix[words + 1] = prefix[words] * BASE + (mix(h) & ~_FLAGS)
                words += 1
                if code_point == _FULL_STOP:
                    dots = dots + 1 if dots_end == position else 1
                    dots_end = position + 1
                    counts[_ELLIPSES] += dots % 3 == 0
                elif code_point == _ELLIPSIS:
                    counts[_ELLIPSES] += 1
                elif code_point == _NUMBER_SIGN:
                    counts[_HASHES] += 1
            if classes & _RARE:
                counts[_CONTROL] += (classes & CONTROL) != 0
                counts[_REPLACEMENT] += (classes & REPLACEMENT) != 0
                counts[_PRIVATE_USE] += (classes & PRIVATE_USE) != 0
                counts[_UNASSIGNED] += (classes & UNASSIGNED) != 0
        position += 1
    if inside:
        ends[words] = position
        prefix[words + 1] = prefix[words] * BASE + _word_hash(data, begin, stop, h, lettered)
        words += 1
    counts[_CHARACTERS] = position
    counts[_VISIBLE] = position - whitespace
    counts[_WHITESPACE] = whitespace
    counts[_LETTERS] = letters
    counts[_DIGITS] = digits
    counts[_UPPERCASE] = uppercase
    counts[_CJK] = cjk
    return words


@njit(**KERNEL)
def _bits(stops: np.uint64) -> np.int64:
    """Return how many stop words a set of their numbers holds; number 0 is none."""
    found = np.int64(0)
    for number in range(1, len(STOP_WORDS) + 1):
        found += np.int64(stops >> np.uint64(number) & _ONE)
    return found


@njit(**KERNEL)
def join_words(
    prefix: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    words: int,
    unicode_counts: np.ndarray,
    counts: np.ndarray,
) -> int:
    """Turn the Unicode words of a text into its whitespace words, in place; return their number.

    `unicode_counts` and `counts` receive the WORD_COUNTS of the words before and after. A
    whitespace word is a stop word only if it consists of that Unicode word alone.
    """
    joined = 0
    previous = np.uint64(0)
    h = np.uint64(0)
    lettered = np.uint64(0)
    stops = np.uint64(0)
    unicode_stops = np.uint64(0)
    last_end = np.int64(-1)
    word_start = np.int64(0)
    alphabetic = unicode_alphabetic = longest = unicode_longest = np.int64(0)
    for t in range(words):
        start = np.int64(starts[t])
        end = np.int64(ends[t])
        current = prefix[t + 1]
        part = current - previous * BASE
        previous = current
        flag = part & _ONE
        stop_word = _ONE << (part >> _ONE & _STOP_BITS)
        unicode_alphabetic += np.int64(flag)
        unicode_stops |= stop_word
        unicode_longest = max(unicode_longest, end - start)
        if start != last_end:
            joined += 1
            word_start = start
            h = np.uint64(0)
            lettered = np.uint64(0)
            if t + 1 == words or starts[t + 1] != end:
                stops |= stop_word
        alphabetic += np.int64(flag & ~lettered)
        lettered |= flag
        longest = max(longest, end - word_start)
        h = h * BASE + part
        starts[joined - 1] = word_start
        ends[joined - 1] = end
        prefix[joined] = prefix[joined - 1] * BASE + mix(h)
        last_end = end
    unicode_counts[_WORDS] = words
    unicode_counts[_ALPHABETIC_WORDS] = unicode_alphabetic
    unicode_counts[_STOP_WORDS] = _bits(unicode_stops)
    unicode_counts[_LONGEST_WORD] = unicode_longest
    counts[_WORDS] = joined
    counts[_ALPHABETIC_WORDS] = alphabetic
    counts[_STOP_WORDS] = _bits(stops)
    counts[_LONGEST_WORD] = longest
    return joined
