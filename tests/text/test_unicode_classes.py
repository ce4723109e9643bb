"""The shipped table of character classes, against the Unicode data of the running Python."""

import re
import unicodedata

import numpy as np
import pytest

from corpusclean.text.unicode_classes import (
    ALPHABETIC,
    BULLET,
    CJK,
    CONTROL,
    DIGIT,
    LINE_BREAK,
    PRIVATE_USE,
    PUNCTUATION,
    REPLACEMENT,
    TERMINAL,
    UNASSIGNED,
    UPPERCASE,
    WHITESPACE,
    WORD,
    class_table,
)

CHANGES_ALLOWED = 40
"""Characters whose properties a later Unicode may have corrected."""


@pytest.fixture(scope="module")
def classes() -> np.ndarray:
    return class_table().classes(np.arange(0x110000))


@pytest.fixture(scope="module")
def assigned() -> list[int]:
    return [c for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]


@pytest.mark.parametrize(
    ("bit", "holds"),
    [
        (WHITESPACE, str.isspace),
        (LINE_BREAK, lambda c: len(f"a{c}b".splitlines()) == 2),
        (ALPHABETIC, str.isalpha),
        (WORD, lambda c: re.match(r"\w", c) is not None),
        (CONTROL, lambda c: unicodedata.category(c) == "Cc" and c not in "\t\n\r"),
        (UNASSIGNED, lambda c: False),
        (PRIVATE_USE, lambda c: unicodedata.category(c) == "Co"),
        (REPLACEMENT, lambda c: c == "\ufffd"),
        (DIGIT, str.isdecimal),
        (UPPERCASE, lambda c: unicodedata.category(c) == "Lu"),
        (PUNCTUATION, lambda c: unicodedata.category(c).startswith("P")),
    ],
)
def test_classes_are_those_of_python(classes, assigned, bit, holds):
    differing = [hex(c) for c in assigned if bool(classes[c] & bit) != holds(chr(c))]
    assert len(differing) <= CHANGES_ALLOWED, differing


@pytest.mark.parametrize(
    ("bit", "members", "others"),
    [
        (TERMINAL, ".?!。！？．｡؟۔।॥։።༎។\u037e\u2047", ",;:\"'”」)…،、·-a1 \n"),
        (CJK, "漢𠮷々〇ぁンーｱ한ㄱ㐀", "aЯα中"[:3] + "。・①㈱ㄅ\u3000"),
        (BULLET, "-*•‣◦●■▪·・", "–—+~#>1a"),
        (WHITESPACE, " \t\n\r\x0b\x1c\x85\xa0\u2003\u3000\u2028", "\u200b\ufeff\u2060a"),
        (WORD, "aéЯ漢한०٣½²_", "-'\u0301\u093f\u200d。😀"),
        (UNASSIGNED, "\ufdd0\ufffe\U0010ffff\U000e0000", "a\ufffd\ue000"),
    ],
)
def test_members(classes, bit, members, others):
    assert [c for c in members if not classes[ord(c)] & bit] == []
    assert [c for c in others if classes[ord(c)] & bit] == []


def test_newer_characters_than_the_running_python_knows(classes):
    assert class_table().unicode_version == "18.0.0"
    # Letters of Unicode 15, 16 and 17: Kawi, Garay, Sidetic.
    for code_point in (0x11F12, 0x10D50, 0x10940):
        assert classes[code_point] & ALPHABETIC
        assert not classes[code_point] & UNASSIGNED


def test_surrogates_have_no_class(classes):
    assert not classes[0xD800:0xE000].any()
