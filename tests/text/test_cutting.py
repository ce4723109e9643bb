"""Cuts take out exactly their characters, in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.text.cutting import apply_cuts, merge_ranges


@pytest.mark.parametrize(
    ("text", "ranges", "left", "cut"),
    [
        ("abcdef", [], "abcdef", 0),
        ("abcdef", [(2, 4)], "ab\nef", 2),
        ("abcdef", [(0, 2)], "cdef", 2),
        ("abcdef", [(4, 6)], "abcd", 2),
        ("abcdef", [(0, 6)], "", 6),
        ("abcdef", [(3, 5), (1, 4)], "a\nf", 4),
        ("abcdef", [(1, 2), (2, 3)], "a\ndef", 2),
        ("abcdef", [(4, 99), (-3, 1)], "bcd", 3),
        ("abcdef", [(3, 3)], "abcdef", 0),
        ("", [(0, 5)], "", 0),
        ("今天天气很好。明天下雨。", [(7, 12)], "今天天气很好。", 5),
        ("หนังสือเล่มนี้", [(0, 7)], "เล่มนี้", 7),
        ("a🙂b🙂c", [(1, 2)], "a\nb🙂c", 1),
        ("e\u0301a", [(2, 3)], "e\u0301", 1),
        ("one\r\ntwo", [(3, 5)], "one\ntwo", 2),
    ],
)
def test_apply_cuts(text, ranges, left, cut):
    assert apply_cuts(text, ranges) == (left, cut)


RANGES = st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60)), max_size=12)


@given(st.text(max_size=50), RANGES)
def test_every_character_is_cut_or_left(text, ranges):
    covered = {i for a, b in ranges for i in range(max(a, 0), min(b, len(text)))}
    left, cut = apply_cuts(text, ranges)
    assert cut == len(covered)
    kept = "".join(c for i, c in enumerate(text) if i not in covered)
    assert left.replace("\n", "") == kept.replace("\n", "")


@given(RANGES, st.randoms())
def test_order_does_not_matter(ranges, random):
    shuffled = random.sample(ranges, len(ranges))
    assert merge_ranges(shuffled, 50) == merge_ranges(ranges, 50)
