"""Folding texts for the search of terms, and telling whole words from parts of words.

Terms and texts are folded alike, a code point at a time:
- Letters become lower case where that is one letter and takes no more bytes in UTF-8 (all but
  three of Unicode's); the final sigma becomes the other. Accents stay.
- A run of white space, line breaks and no-break spaces among it, becomes one space.
- Format characters (zero-width joiners, soft hyphens, marks of direction) and variation
  selectors vanish.

Where a match may begin and end depends on the script, for each end of a term by itself. An end
in a script with spaces is that of a word: the character beyond it is no letter, digit, underscore
or mark of such a script. An end in a script without spaces (Han, kana, Thai, Lao, Khmer, Burmese
and their kin) may stand inside a run of letters. A combining mark after a match always makes it
another word.
"""

from functools import cache

import numpy as np
import pyarrow as pa
from numba import njit

from corpusclean.text.arrow import string_buffers
from corpusclean.text.folding import BLOCK_BITS as FOLD_BLOCK_BITS
from corpusclean.text.folding import CHARACTER, DROP, KIND_SHIFT, MARK, SPELLED, fold_table
from corpusclean.text.hashing import KERNEL
from corpusclean.text.normalise import read_only
from corpusclean.text.unicode_classes import WHITESPACE, WORD, class_table

__all__ = ["count_whole", "fold_texts", "open_ends"]

_CODE_POINTS = 0x110000
_LAST_CASED = 0x1E944
_VALUE = (1 << KIND_SHIFT) - 1

_YPOGEGRAMMENI = 0x0345
"""The one mark that case folding makes a letter of."""

_OTHER = 0
_SPACE = 1
_SPACED = 2
"""A letter, digit or underscore of a script with spaces."""
_UNSPACED = 3
_MARK = 4
_VANISHES = 5

_FORMAT = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x0600, 0x0605), (0x061C, 0x061C), (0x06DD, 0x06DD),
    (0x070F, 0x070F), (0x0890, 0x0891), (0x08E2, 0x08E2), (0x180B, 0x180F), (0x200B, 0x200F),
    (0x202A, 0x202E), (0x2060, 0x2064), (0x2066, 0x206F), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB), (0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0001, 0xE0001), (0xE0020, 0xE007F),
    (0xE0100, 0xE01EF),
)  # fmt: skip
"""General category Cf, variation selectors and the grapheme joiner, Unicode 16."""


@cache
def _table() -> np.ndarray:
    """Return for each code point its kind, in the bits from KIND_SHIFT on, and what it becomes."""
    code_points = np.arange(_CODE_POINTS)
    classes = class_table().classes(code_points)
    folding = fold_table()
    blocks = folding.index[code_points >> FOLD_BLOCK_BITS].astype(np.int64) << FOLD_BLOCK_BITS
    entries = folding.entries[blocks | code_points & (1 << FOLD_BLOCK_BITS) - 1]
    spelled = entries >> KIND_SHIFT == SPELLED
    first = folding.spelling_offsets[np.where(spelled, entries & _VALUE, 0)]
    kinds = np.where(spelled, folding.spellings[first], entries) >> KIND_SHIFT
    is_word = classes & WORD != 0
    kind = np.full(_CODE_POINTS, _OTHER, np.int32)
    kind[~is_word & ((kinds == MARK) | (kinds == DROP))] = _MARK
    kind[_YPOGEGRAMMENI] = _MARK
    for start, last in _FORMAT:
        kind[start : last + 1] = _VANISHES
    kind[is_word] = _SPACED
    kind[is_word & (kinds == CHARACTER)] = _UNSPACED
    kind[classes & WHITESPACE != 0] = _SPACE
    folded = code_points.astype(np.int32)
    for code_point in range(_LAST_CASED):
        character = chr(code_point)
        lower = character.lower()
        if lower != character and len(lower) == 1 and _bytes(lower) <= _bytes(character):
            folded[code_point] = ord(lower)
    folded[ord("ς")] = ord("σ")
    folded[kind == _SPACE] = ord(" ")
    return read_only(kind << KIND_SHIFT | folded)


def _bytes(character: str) -> int:
    return len(character.encode("utf-8", "surrogatepass"))


def fold_texts(texts: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the folded texts as bytes, and int64 offsets of n + 1 in them; a null is empty."""
    data, offsets = map(read_only, string_buffers(texts))
    folded = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    folded_offsets = np.zeros(len(offsets), np.int64)
    count = _fold(data, offsets, _table(), folded, folded_offsets)
    return read_only(folded[:count]), read_only(folded_offsets)


def open_ends(term: bytes) -> tuple[bool, bool]:
    """Tell whether a match of a folded term may begin, and may end, inside a run of letters."""
    table = _table()
    kinds = [int(table[ord(c)]) >> KIND_SHIFT for c in term.decode("utf-8")]
    letters = [kind for kind in kinds if kind != _MARK] or [_OTHER]
    return kinds[0] == _UNSPACED, letters[-1] == _UNSPACED


def count_whole(
    folded: tuple[np.ndarray, np.ndarray],
    matches: np.ndarray,
    terms: np.ndarray,
    lists: int,
) -> np.ndarray:
    """Count the matches that stand where they may, for each text and list.

    `matches` is int64 of (m, 3): number of the term, and the half-open range of bytes in the
    folded texts; `terms` int64 of (terms, 3): the list, and the `open_ends`. Of matches of one
    list that overlap, the leftmost counts, and the longest of those that begin together. Returns
    int64 of (texts, lists).
    """
    data, offsets = folded
    counts = np.zeros((len(offsets) - 1, lists), np.int64)
    order = np.lexsort((matches[:, 0], -matches[:, 2], matches[:, 1]))
    _count(data, offsets, _table(), matches[order], terms, counts)
    return counts


@njit(inline="always", **KERNEL)
def _decode(data: np.ndarray, i: int) -> tuple[np.int64, int]:
    """Return the code point at `i` and where the next one is."""
    byte = np.int64(data[i])
    if byte < 0x80:
        return byte, i + 1
    if byte < 0xE0:
        return (byte & 31) << 6 | (np.int64(data[i + 1]) & 63), i + 2
    if byte < 0xF0:
        return (
            (byte & 15) << 12 | (np.int64(data[i + 1]) & 63) << 6 | (np.int64(data[i + 2]) & 63),
            i + 3,
        )
    return (
        (byte & 7) << 18
        | (np.int64(data[i + 1]) & 63) << 12
        | (np.int64(data[i + 2]) & 63) << 6
        | (np.int64(data[i + 3]) & 63),
        i + 4,
    )


@njit(**KERNEL)
def _fold(
    data: np.ndarray,
    offsets: np.ndarray,
    table: np.ndarray,
    folded: np.ndarray,
    folded_offsets: np.ndarray,
) -> int:
    """Write the folded texts and where each ends; return the number of bytes."""
    count = 0
    for text in range(offsets.shape[0] - 1):
        i = offsets[text]
        stop = offsets[text + 1]
        in_space = False
        while i < stop:
            code_point, i = _decode(data, i)
            entry = np.int64(table[code_point])
            kind = entry >> KIND_SHIFT
            value = entry & _VALUE
            if kind == _VANISHES or (kind == _SPACE and in_space):
                continue
            in_space = kind == _SPACE
            if value < 0x80:
                folded[count] = value
                count += 1
            elif value < 0x800:
                folded[count] = 0xC0 | value >> 6
                folded[count + 1] = 0x80 | (value & 63)
                count += 2
            elif value < 0x10000:
                folded[count] = 0xE0 | value >> 12
                folded[count + 1] = 0x80 | (value >> 6 & 63)
                folded[count + 2] = 0x80 | (value & 63)
                count += 3
            else:
                folded[count] = 0xF0 | value >> 18
                folded[count + 1] = 0x80 | (value >> 12 & 63)
                folded[count + 2] = 0x80 | (value >> 6 & 63)
                folded[count + 3] = 0x80 | (value & 63)
                count += 4
        folded_offsets[text + 1] = count
    return count


@njit(**KERNEL)
def _count(
    data: np.ndarray,
    offsets: np.ndarray,
    table: np.ndarray,
    matches: np.ndarray,
    terms: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Add the matches that count to `counts`; they come by start, then from the longest on."""
    text = 0
    free_from = np.zeros(counts.shape[1], np.int64)
    for m in range(matches.shape[0]):
        term, start, stop = matches[m, 0], matches[m, 1], matches[m, 2]
        while offsets[text + 1] <= start:
            text += 1
        in_list = terms[term, 0]
        if stop > offsets[text + 1] or start < free_from[in_list]:
            continue
        if terms[term, 1] == 0:
            before = np.int64(_OTHER)
            i = start
            while i > offsets[text]:
                i -= 1
                while data[i] & 0xC0 == 0x80:
                    i -= 1
                before = np.int64(table[_decode(data, i)[0]]) >> KIND_SHIFT
                if before != _MARK:
                    break
            if before == _SPACED:
                continue
        if stop < offsets[text + 1]:
            after = np.int64(table[_decode(data, stop)[0]]) >> KIND_SHIFT
            if after == _MARK or (after == _SPACED and terms[term, 2] == 0):
                continue
        counts[text, in_list] += 1
        free_from[in_list] = stop
