"""Signals of the published repetition rules, by examples and published values."""

import pyarrow as pa
import pytest

from corpusclean.signals.document import measure_document_signals

MENU = "spam ham eggs toast jam "
PROSE = (
    "Pretraining data should be varied and each sentence adds some new words to the document "
    "without repeating earlier phrases at all."
)


def signals(text: str) -> dict[str, float | int | None]:
    return measure_document_signals(pa.array([text])).to_pylist()[0]


@pytest.mark.parametrize(
    ("text", "tops", "duplicates"),
    [
        ("a b c", (0, 0, 0), (0, 0)),
        ("the cat sat on mat " * 3, (0.3684, 0.5789, 0.7368), (0.9825, 0.9825)),
        ((MENU * 20).strip(), (0.4175, 0.5846, 0.7933), (1, 1)),
        ("ab c x y ab c x y a bc x y", (0.3462, 0.4615, 0.6154), (0, 0)),
        ("one line here\ntwo line here\none line here\n", (0.6429, 0.6190, 0), (0, 0)),
        (PROSE, (0, 0, 0), (0, 0)),
    ],
)
def test_published_values(text, tops, duplicates):
    measured = signals(text)
    found = [measured[f"top_{n}gram_character_fraction"] for n in (2, 3, 4)]
    assert [round(value, 4) for value in found] == list(tops)
    found = [measured[f"duplicate_{n}gram_character_fraction"] for n in (5, 10)]
    assert [round(value, 4) for value in found] == list(duplicates)


def test_a_menu_repeated_is_nearly_all_duplicate():
    assert signals(MENU * 40)["duplicate_5gram_character_fraction"] == 959 / 960


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a a", 0.0),  # the pair occurs once
        ("a a a", 1.0),  # overlapping occurrences, no character twice
        ("a b a b", 6 / 7),
        ("a  b a b", 7 / 8),  # inner whitespace is part of it, and the words are the same
        ("x y a bcd x y a bcd", 10 / 19),  # of equally frequent ones the widest
        ("a b a b a b xxxx yyyy xxxx yyyy", 9 / 31),  # the more frequent before the wider
        ("ab c a bc", 0.0),
        ("", None),
        (" ", 0.0),
    ],
)
def test_top_2gram(text, expected):
    assert signals(text)["top_2gram_character_fraction"] == expected


def test_scripts_without_spaces_repeat_in_unicode_words():
    measured = signals("今天天气很好。" * 1000)
    assert measured["top_2gram_character_fraction_unicode"] == 1.0
    assert measured["duplicate_10gram_character_fraction_unicode"] == 1.0
    assert measured["duplicate_10gram_character_fraction"] == 0.0


@pytest.mark.parametrize(
    ("text", "lines", "line_characters", "paragraphs", "paragraph_characters"),
    [
        ("para one.\n\n\n\npara two.\n\n\n\npara three.\n\n", 0, 0, 0, 0),
        ("a\nb\na\n", 1 / 3, 1 / 6, 0, 0),
        ("a\nb\na", 1 / 3, 1 / 5, 0, 0),
        ("a\r\nb\r\na\n", 1 / 3, 1 / 8, 0, 0),
        ("ab\n\nab\n\nab", 2 / 3, 4 / 10, 2 / 3, 4 / 10),
        ("a\nb\n \na\nb\n\nb\na", 4 / 6, 4 / 14, 1 / 3, 3 / 14),
        ("  a\na\n", 0, 0, 0, 0),
        ("一行\n一行\n一行", 2 / 3, 4 / 8, 0, 0),
        ("one", 0, 0, 0, 0),
        ("\n\n", None, 0, None, 0),
        ("", None, None, None, None),
    ],
)
def test_lines_and_paragraphs(text, lines, line_characters, paragraphs, paragraph_characters):
    measured = signals(text)
    assert measured["duplicate_line_fraction"] == lines
    assert measured["duplicate_line_character_fraction"] == line_characters
    assert measured["duplicate_paragraph_fraction"] == paragraphs
    assert measured["duplicate_paragraph_character_fraction"] == paragraph_characters
