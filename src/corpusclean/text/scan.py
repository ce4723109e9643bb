"""Every count that the signals of a document stand on, for a batch of texts at once.

Characters, words, lines and paragraphs are counted, and how much of them is repeated; see
`corpusclean.text.words`, `.lines` and `.repetition` for what each of them is.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from corpusclean.text.arrow import string_buffers
from corpusclean.text.hashing import KERNEL
from corpusclean.text.lines import LINE_COUNTS, count_newlines, scan_lines
from corpusclean.text.normalise import read_only
from corpusclean.text.repetition import (
    LARGEST_ORDER,
    SMALLEST_ORDER,
    repeated_ngrams,
    repeated_segments,
    table_size,
)
from corpusclean.text.unicode_classes import class_table
from corpusclean.text.words import (
    CHARACTER_COUNTS,
    WORD_COUNTS,
    ascii_tallies,
    count_words,
    join_words,
    scan_words,
)

__all__ = ["COUNTS", "TextCounts", "scan"]

SEGMENT_COUNTS = (
    "duplicate_lines",
    "duplicate_line_characters",
    "duplicate_paragraphs",
    "duplicate_paragraph_characters",
)
NGRAM_COUNTS = tuple(
    f"repeated_{order}gram_characters" for order in range(SMALLEST_ORDER, LARGEST_ORDER + 1)
)
_OF_WORDS = WORD_COUNTS + NGRAM_COUNTS

COUNTS = (
    "bytes",
    *CHARACTER_COUNTS,
    *LINE_COUNTS,
    *SEGMENT_COUNTS,
    *_OF_WORDS,
    *(f"{name}_unicode" for name in _OF_WORDS),
)
"""The names of all counts, in the order of the columns of their matrix."""

_CHARACTERS = 1
_LINES = _CHARACTERS + len(CHARACTER_COUNTS)
_PARAGRAPHS = _LINES + LINE_COUNTS.index("paragraphs")
_SEGMENTS = _LINES + len(LINE_COUNTS)
_WHITESPACE_WORDS = _SEGMENTS + len(SEGMENT_COUNTS)
_WHITESPACE_NGRAMS = _WHITESPACE_WORDS + len(WORD_COUNTS)
_UNICODE_WORDS = _WHITESPACE_NGRAMS + len(NGRAM_COUNTS)
_UNICODE_NGRAMS = _UNICODE_WORDS + len(WORD_COUNTS)

_COUNTED_FIRST = 1 << 20
"""Texts of more bytes have their words and lines counted before room is made for them."""


@dataclass(frozen=True)
class TextCounts:
    """The counts of a batch: `matrix` is int64, a row a text, with the columns COUNTS."""

    matrix: np.ndarray

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.matrix)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return one count of every text."""
        return self.matrix[:, COUNTS.index(name)]


def scan(texts: pa.Array | pa.ChunkedArray) -> TextCounts:
    """Count everything in each text of a string column; a null is the empty text.

    A text has to be under 2 GiB. Scratch is sized by the largest text: about 21 bytes for each
    of its Unicode words, 12 for each line and paragraph, and at most 200 MB of tables.
    """
    data, offsets = string_buffers(texts)
    table = class_table()
    matrix = np.zeros((len(offsets) - 1, len(COUNTS)), np.int64)
    _scan_batch(
        read_only(data),
        read_only(offsets),
        read_only(table.index),
        read_only(table.entries),
        read_only(ascii_tallies(table)),
        matrix,
    )
    # Written a row at a time, read a column at a time.
    return TextCounts(np.asfortranarray(matrix))


@njit(**KERNEL)
def _room(
    data: np.ndarray, offsets: np.ndarray, index: np.ndarray, entries: np.ndarray
) -> tuple[int, int]:
    """Return bounds of the words and of the pieces between newlines in any text of a batch."""
    words = 1
    pieces = 1
    for text in range(offsets.shape[0] - 1):
        start = offsets[text]
        stop = offsets[text + 1]
        if stop - start <= _COUNTED_FIRST:
            words = max(words, stop - start)
            pieces = max(pieces, stop - start + 1)
        else:
            words = max(words, count_words(data, start, stop, index, entries))
            pieces = max(pieces, count_newlines(data, start, stop) + 1)
    return words, pieces


@njit(**KERNEL)
def _scan_batch(
    data: np.ndarray,
    offsets: np.ndarray,
    index: np.ndarray,
    entries: np.ndarray,
    tallies: np.ndarray,
    matrix: np.ndarray,
) -> None:
    """Fill the matrix of counts, a text at a time, in scratch that all of them share."""
    room, pieces = _room(data, offsets, index, entries)
    prefix = np.empty(room + 1, np.uint64)
    starts = np.empty(room, np.int32)
    ends = np.empty(room, np.int32)
    candidates = np.empty(room, np.int32)
    repeated = np.empty(room, np.uint8)
    line_hashes = np.empty(pieces, np.uint64)
    line_lengths = np.empty(pieces, np.int32)
    paragraph_hashes = np.empty(pieces, np.uint64)
    paragraph_lengths = np.empty(pieces, np.int32)
    keys = np.empty(table_size(max(room, pieces)), np.uint64)
    tops = np.empty((table_size(room), 3), np.int32)
    for text in range(offsets.shape[0] - 1):
        start = offsets[text]
        stop = offsets[text + 1]
        counts = matrix[text]
        counts[0] = stop - start
        words = scan_words(
            data,
            start,
            stop,
            index,
            entries,
            tallies,
            prefix,
            starts,
            ends,
            counts[_CHARACTERS:_LINES],
        )
        scan_lines(
            data,
            start,
            stop,
            index,
            entries,
            counts[_CHARACTERS] == stop - start,
            line_hashes,
            line_lengths,
            paragraph_hashes,
            paragraph_lengths,
            counts[_LINES:_SEGMENTS],
        )
        copies = counts[_SEGMENTS : _SEGMENTS + 2]
        repeated_segments(line_hashes, line_lengths, counts[_LINES], keys, copies)
        copies = counts[_SEGMENTS + 2 : _WHITESPACE_WORDS]
        repeated_segments(paragraph_hashes, paragraph_lengths, counts[_PARAGRAPHS], keys, copies)
        ngrams = counts[_UNICODE_NGRAMS:]
        repeated_ngrams(prefix, starts, ends, words, candidates, repeated, keys, tops, ngrams)
        words = join_words(
            prefix, starts, ends, words, counts[_UNICODE_WORDS:], counts[_WHITESPACE_WORDS:]
        )
        ngrams = counts[_WHITESPACE_NGRAMS:_UNICODE_WORDS]
        repeated_ngrams(prefix, starts, ends, words, candidates, repeated, keys, tops, ngrams)
