"""Lines and paragraphs of a text.

A *line* is a piece between newlines ("\\n") with its trailing whitespace taken off, so that
"\\r\\n" ends a line as "\\n" does; a piece of whitespace alone is blank and no line. A *paragraph*
is a longest run of lines with no blank piece between them; its characters are those of its lines
and a newline between each two.
"""

import numpy as np
from numba import njit

from corpusclean.text.hashing import BASE, KERNEL, mix
from corpusclean.text.unicode_classes import BLOCK_BITS, BULLET, TERMINAL, WHITESPACE

__all__ = ["LINE_COUNTS", "SHORT_LINE", "count_newlines", "scan_lines"]

LINE_COUNTS = (
    "lines",
    "bullet_lines",
    "ellipsis_lines",
    "terminal_lines",
    "short_lines",
    "paragraphs",
)
"""What `scan_lines` counts, in its order."""

_LINES, _BULLET_LINES, _ELLIPSIS_LINES, _TERMINAL_LINES, _SHORT_LINES, _PARAGRAPHS = range(
    len(LINE_COUNTS)
)

SHORT_LINE = 30
"""A line of at most so many characters is short (FineWeb, Penedo et al. 2024)."""

_POWER_2 = np.uint64(int(BASE) ** 2 % 2**64)
_POWER_3 = np.uint64(int(BASE) ** 3 % 2**64)
_POWER_4 = np.uint64(int(BASE) ** 4 % 2**64)
_ONE = np.uint64(1)
_NEWLINE = ord("\n")
_FULL_STOP = ord(".")
_ELLIPSIS = ord("…")
_BLOCK_MASK = (1 << BLOCK_BITS) - 1


@njit(**KERNEL)
def count_newlines(data: np.ndarray, start: int, stop: int) -> int:
    """Return the number of newlines in the bytes [start, stop)."""
    newlines = 0
    for i in range(start, stop):
        newlines += data[i] == _NEWLINE
    return newlines


@njit(inline="always", **KERNEL)
def _code_point(data: np.ndarray, i: int, stop: int) -> np.int64:
    """Return the code point in the bytes [i, stop), which hold no other."""
    byte = np.int64(data[i])
    if byte < 0x80:
        return byte
    # The lead byte of a sequence of n bytes has n ones and a zero before its own bits.
    code_point = byte & (0x7F >> (stop - i))
    for k in range(i + 1, stop):
        code_point = code_point << 6 | (np.int64(data[k]) & 63)
    return code_point


@njit(inline="always", **KERNEL)
def _classes(index: np.ndarray, entries: np.ndarray, code_point: np.int64) -> np.int64:
    block = np.int64(index[code_point >> BLOCK_BITS]) << BLOCK_BITS
    return np.int64(entries[block | (code_point & _BLOCK_MASK)])


@njit(inline="always", **KERNEL)
def _before(data: np.ndarray, i: int) -> int:
    """Return where the character that ends before byte i begins."""
    i -= 1
    while data[i] & 0xC0 == 0x80:
        i -= 1
    return i


@njit(inline="always", **KERNEL)
def _after(data: np.ndarray, i: int, stop: int) -> int:
    """Return where the character that begins at byte i ends."""
    i += 1
    while i < stop and data[i] & 0xC0 == 0x80:
        i += 1
    return i


@njit(**KERNEL)
def _line_hash(data: np.ndarray, start: int, stop: int) -> np.uint64:
    """Hash the bytes [start, stop) as `span_hash` does, four at a time."""
    h = np.uint64(0)
    i = start
    while i + 3 < stop:
        four = (
            (np.uint64(data[i]) + _ONE) * _POWER_3
            + (np.uint64(data[i + 1]) + _ONE) * _POWER_2
            + (np.uint64(data[i + 2]) + _ONE) * BASE
            + (np.uint64(data[i + 3]) + _ONE)
        )
        h = h * _POWER_4 + four
        i += 4
    while i < stop:
        h = h * BASE + np.uint64(data[i]) + _ONE
        i += 1
    return h


@njit(**KERNEL)
def _characters(data: np.ndarray, start: int, stop: int) -> int:
    continuations = 0
    for i in range(start, stop):
        continuations += (data[i] & 0xC0) == 0x80
    return stop - start - continuations


@njit(**KERNEL)
def _ends_in_ellipsis(data: np.ndarray, start: int, stop: int, last: np.int64) -> bool:
    """Say whether the line in the bytes [start, stop) with this last character ends in one."""
    if last == _ELLIPSIS:
        return True
    if stop - start < 3:
        return False
    return (
        data[stop - 1] == _FULL_STOP
        and data[stop - 2] == _FULL_STOP
        and data[stop - 3] == _FULL_STOP
    )


@njit(**KERNEL)
def scan_lines(
    data: np.ndarray,
    start: int,
    stop: int,
    index: np.ndarray,
    entries: np.ndarray,
    is_ascii: bool,
    line_hashes: np.ndarray,
    line_lengths: np.ndarray,
    paragraph_hashes: np.ndarray,
    paragraph_lengths: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Write hash and length of the lines and paragraphs of the text in the bytes [start, stop).

    Lengths are in characters; `is_ascii` says that these are bytes. The arrays need room for a
    segment more than there are newlines; `counts` receives LINE_COUNTS, and must be 0 before.
    """
    lines = 0
    paragraphs = 0
    inside = False  # of a paragraph
    i = start
    while i < stop:
        begin = i
        while i < stop and data[i] != _NEWLINE:
            i += 1
        end = i
        i += 1
        last = last_classes = np.int64(WHITESPACE)
        while end > begin:
            before = _before(data, end)
            last = _code_point(data, before, end)
            last_classes = _classes(index, entries, last)
            if not last_classes & WHITESPACE:
                break
            end = before
        if end == begin:
            inside = False
            continue
        k = begin
        first_classes = np.int64(WHITESPACE)
        while first_classes & WHITESPACE:
            after = _after(data, k, end)
            first_classes = _classes(index, entries, _code_point(data, k, after))
            k = after
        h = mix(_line_hash(data, begin, end))
        length = end - begin if is_ascii else _characters(data, begin, end)
        line_hashes[lines] = h
        line_lengths[lines] = length
        lines += 1
        if inside:
            paragraph_hashes[paragraphs - 1] = paragraph_hashes[paragraphs - 1] * BASE + h
            paragraph_lengths[paragraphs - 1] += length + 1
        else:
            inside = True
            paragraph_hashes[paragraphs] = h
            paragraph_lengths[paragraphs] = length
            paragraphs += 1
        counts[_BULLET_LINES] += (first_classes & BULLET) != 0
        counts[_TERMINAL_LINES] += (last_classes & TERMINAL) != 0
        counts[_ELLIPSIS_LINES] += _ends_in_ellipsis(data, begin, end, last)
        counts[_SHORT_LINES] += length <= SHORT_LINE
    counts[_LINES] = lines
    counts[_PARAGRAPHS] = paragraphs
