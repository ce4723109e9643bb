"""Signals of the published quality rules, by examples."""

import pyarrow as pa
import pytest

from corpusclean.signals.document import measure_document_signals


def signal(name: str, text: str) -> float | int | None:
    return measure_document_signals(pa.array([text])).column(name)[0].as_py()


@pytest.mark.parametrize(
    ("text", "words", "unicode_words"),
    [
        ("", 0, 0),
        ("Hello, world!", 2, 4),
        ("don't", 1, 3),
        ("snake_case a-b", 2, 4),
        ("今天天气很好。", 1, 2),
        ("e\u0301", 1, 2),
        ("...", 1, 3),
        ("👩‍👧", 1, 3),
        ("a\u00a0b\u200bc", 2, 4),
    ],
)
def test_words(text, words, unicode_words):
    assert signal("words", text) == words
    assert signal("words_unicode", text) == unicode_words


@pytest.mark.parametrize(
    ("text", "plain", "unicode"),
    [
        ("The cat and THE dog", 2, 2),
        ("to be, or not to be: that", 2, 3),
        ("the, of. and! to? with; have: that) (be", 0, 8),
        ("There often thats", 0, 0),
        ("ТНЕ OF", 1, 1),
        ("", 0, 0),
    ],
)
def test_stop_words_are_distinct_and_of_any_case(text, plain, unicode):
    assert signal("stop_words", text) == plain
    assert signal("stop_words_unicode", text) == unicode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# one", 1 / 2),
        ("#### one two", 4 / 3),
        ("C# one#two", 1.0),
        ("no sign", 0.0),
        ("", None),
        (" \n", None),
    ],
)
def test_hash_word_ratio(text, expected):
    assert signal("hash_word_ratio", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("and so...", 1 / 2),
        ("and so…", 1 / 2),
        ("and so.....", 1 / 2),
        ("and so......", 1.0),
        ("and so…… ..", 2 / 3),
        ("a.. .b", 0.0),
        ("", None),
    ],
)
def test_ellipsis_word_ratio(text, expected):
    assert signal("ellipsis_word_ratio", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n* b\n• c\nd", 3 / 4),
        ("  - a\n\n\t▪ b\n \n", 1.0),
        ("a - b\n— c\n1. d", 0.0),
        ("\n\n", None),
    ],
)
def test_bullet_line_fraction(text, expected):
    assert signal("bullet_line_fraction", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a...\nb…\nc.\nd..", 2 / 4),
        ("a...\r\nb… \n\n", 1.0),
        ("...a\n....", 1 / 2),
        ("a. ..", 0.0),
        ("", None),
    ],
)
def test_ellipsis_line_fraction(text, expected):
    assert signal("ellipsis_line_fraction", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.\nb", 1 / 2),
        ("a.\r\nb!\r\n", 1.0),
        ("a.  \nb?\u3000\n\n\n", 1.0),
        ("你好。\n真的吗？\n好！\n，", 3 / 4),
        ("نعم؟\nنعم۔", 1.0),
        ("है।\nहै॥", 1.0),
        ("a…\nb:\nc;\nd\u201d", 0.0),
        (" ", None),
    ],
)
def test_terminal_line_fraction(text, expected):
    assert signal("terminal_line_fraction", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * 30 + "\n" + "x" * 31, 1 / 2),
        ("漢" * 30 + "\r\n" + "漢" * 31, 1 / 2),
        ("x" * 30 + "     \n\n", 1.0),
        ("\n", None),
    ],
)
def test_short_line_fraction(text, expected):
    assert signal("short_line_fraction", text) == expected


@pytest.mark.parametrize(("text", "expected"), [("a\n\nb\n", 3 / 2), ("a b", 0.0), ("\n\n", None)])
def test_newline_word_ratio(text, expected):
    assert signal("newline_word_ratio", text) == expected


@pytest.mark.parametrize(
    ("text", "plain", "unicode"),
    [
        ("a1 22 - Я", 2 / 4, 2 / 4),
        ("a, b, c,", 1.0, 3 / 6),
        ("漢字。", 1.0, 1 / 2),
        ("123 _ ½", 0.0, 0.0),
        ("", None, None),
    ],
)
def test_alphabetic_word_fraction(text, plain, unicode):
    assert signal("alphabetic_word_fraction", text) == plain
    assert signal("alphabetic_word_fraction_unicode", text) == unicode


@pytest.mark.parametrize(
    ("text", "plain", "unicode"), [("ab, c", 2.0, 4 / 3), ("日本語", 3.0, 3.0), ("", None, None)]
)
def test_mean_word_length(text, plain, unicode):
    assert signal("mean_word_length", text) == plain
    assert signal("mean_word_length_unicode", text) == unicode
