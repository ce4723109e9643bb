"""Repeated n-grams and segments where the table is too small, and where hashes are like."""

import numpy as np
import pytest

from corpusclean.text import repetition
from corpusclean.text.hashing import BASE
from corpusclean.text.repetition import (
    LARGEST_ORDER,
    SMALLEST_ORDER,
    TABLE_LIMIT,
    repeated_ngrams,
    repeated_segments,
    table_size,
)

ORDERS = range(SMALLEST_ORDER, LARGEST_ORDER + 1)


def ngram_characters(hashes: list[int]) -> dict[int, int]:
    """Count repeated characters for words of one character with a space between."""
    words = len(hashes)
    prefix = np.zeros(words + 1, np.uint64)
    for i, h in enumerate(hashes):
        prefix[i + 1] = (int(prefix[i]) * int(BASE) + h) % 2**64
    starts = np.arange(0, 2 * words, 2, dtype=np.int32)
    covered = np.zeros(len(ORDERS), np.int64)
    size = table_size(words)
    repeated_ngrams(
        prefix,
        starts,
        starts + np.int32(1),
        words,
        np.empty(words, np.int32),
        np.empty(words, np.uint8),
        np.empty(size, np.uint64),
        np.empty((size, 3), np.int32),
        covered,
    )
    return dict(zip(ORDERS, covered.tolist(), strict=True))


@pytest.mark.parametrize("words", [0, 1, 2])
def test_too_few_words_repeat_nothing(words):
    assert set(ngram_characters([7] * words).values()) == {0}


def test_each_order_needs_a_word_more():
    assert ngram_characters([7] * 5) == {n: 9 if n <= 4 else 0 for n in ORDERS}
    assert ngram_characters([7] * 11) == dict.fromkeys(ORDERS, 21)


def test_words_of_hash_zero_are_words():
    assert ngram_characters([0, 0, 0, 5, 7, 9])[2] == 5
    assert ngram_characters([0, 1, 0, 1])[2] == 6


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_scratch_of_an_earlier_text_does_not_matter(copies):
    hashes = list(range(1, 40)) * copies
    first = ngram_characters(hashes)
    ngram_characters([3] * 100)
    assert ngram_characters(hashes) == first


def segment_copies(hashes: list[int], lengths: list[int]) -> tuple[int, int]:
    keys = np.full(table_size(len(hashes)), 99, np.uint64)
    copies = np.full(2, 99, np.int64)
    repeated_segments(
        np.array(hashes, np.uint64), np.array(lengths, np.int32), len(hashes), keys, copies
    )
    return tuple(copies.tolist())


@pytest.mark.parametrize(
    ("hashes", "lengths", "expected"),
    [
        ([], [], (0, 0)),
        ([5], [3], (0, 0)),
        ([5, 5, 5], [3, 3, 3], (2, 6)),
        ([5, 5, 5], [3, 4, 3], (1, 3)),  # of unequal length, so not the same
        ([0, 0], [0, 0], (1, 0)),
        (list(range(1000)) * 2, [1] * 2000, (1000, 1000)),
    ],
)
def test_segments(hashes, lengths, expected):
    assert segment_copies(hashes, lengths) == expected


def test_segments_beyond_the_table_are_counted_in_parts():
    many = TABLE_LIMIT
    hashes = np.concatenate([np.arange(many), np.arange(0, many, 4)]).astype(np.uint64)
    keys = np.empty(table_size(len(hashes)), np.uint64)
    copies = np.zeros(2, np.int64)
    repeated_segments(hashes, np.ones(len(hashes), np.int32), len(hashes), keys, copies)
    assert len(keys) == TABLE_LIMIT
    assert copies.tolist() == [many // 4, many // 4]


def test_table_size_is_bounded():
    assert table_size(0) == table_size(8) == 16
    assert table_size(9) == 32
    assert table_size(10**9) == repetition.TABLE_LIMIT
