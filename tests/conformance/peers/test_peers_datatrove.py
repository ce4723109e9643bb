"""Our signals against datatrove's own filters: equal where the definitions are."""

import pytest
from asking import measure
from definitions import DATATROVE

from corpusclean.signals.language import UNKNOWN, default_path

DUPLICATES = [f"duplicate_{n}gram_character_fraction" for n in range(5, 11)]

# What is defined otherwise, each on a text that shows it: signal, ours, datatrove's.
DIFFERENCES = [
    ("words all of punctuation", "a - b", "words", 3, 2),
    ("words all of punctuation", "ab -- cd", "mean_word_length", 2.0, 2.0),
    ("words all of punctuation", "abcd - efgh", "mean_word_length", 3.0, 4.0),
    ("capitals", "THE cat AND the dog", "stop_words", 2, 1),
    ("blank lines", "- a\n\n- b\n\n", "bullet_line_fraction", 1.0, 0.5),
    ("bullets", "* a\n◦ b", "bullet_line_fraction", 1.0, 0.0),
    ("blank lines", "so...\n\nno", "ellipsis_line_fraction", 0.5, 1 / 3),
    ("a last newline", "a\nb\na\n", "duplicate_line_fraction", 1 / 3, 1 / 4),
    ("spaces at an end", "a \na\nb", "duplicate_line_fraction", 1 / 3, 0.0),
    ("lines of spaces", "a\n \na", "duplicate_paragraph_fraction", 0.5, 0.0),
    ("an n-gram once", "a b c", "top_2gram_character_fraction", 0.0, 0.6),
    ("an n-gram once", "a b c", "top_3gram_character_fraction", 0.0, 1.0),
    ("overlaps", "a a a", "top_2gram_character_fraction", 1.0, 1.2),
    ("wide spaces", "a  b c a  b", "top_2gram_character_fraction", 8 / 11, 6 / 11),
    ("the first copy", "a b c d e " * 2, "duplicate_5gram_character_fraction", 0.9, 0.25),
    ("words run together", "ab c x y z ab c x y z a bc x y z", DUPLICATES[0], 20 / 32, 12 / 32),
]


@pytest.fixture(scope="module")
def pairs(texts, datatrove):
    """Each text with our signals and datatrove's answer."""
    return list(zip(texts, measure(texts), datatrove(texts, default_path()), strict=True))


@pytest.mark.parametrize("name", [n for n in DATATROVE if n not in DUPLICATES])
def test_equal_wherever_the_definitions_agree(name, pairs):
    definition = DATATROVE[name]
    compared = 0
    for text, ours, told in pairs:
        theirs = told["values"].get(definition.peer)
        if theirs is None or not definition.equal(text):
            continue
        compared += 1
        assert ours[name] == theirs, text
    assert compared >= 3


@pytest.mark.parametrize("name", DUPLICATES)
def test_the_same_documents_hold_a_duplicate_ngram(name, pairs):
    for text, ours, told in pairs:
        if name not in told["values"]:
            continue
        theirs = told["values"][name]
        # Words run together make an n-gram of datatrove's equal to another one.
        assert (ours[name] or 0) > 0 or theirs == 0, text
        assert theirs > 0 or not ours[name], text
        assert ours[name] >= theirs, text


def test_every_split_word_is_a_word(pairs):
    for text, ours, told in pairs:
        assert ours["words"] == told["words"], text


def test_the_language_is_that_of_the_fasttext_library(pairs):
    compared = 0
    for text, ours, told in pairs:
        if ours["language"] != UNKNOWN:
            compared += 1
            assert ours["language"] == told["language"], text
            assert ours["language_probability"] == pytest.approx(told["probability"], abs=2e-4)
    assert compared > 50


@pytest.fixture(scope="module")
def told_of_differences(datatrove):
    """What is said of the texts of all differences: starting the peer takes longest."""
    shown = [text for _, text, *_ in DIFFERENCES]
    return dict(zip(shown, datatrove(shown), strict=True))


@pytest.mark.parametrize(("what", "text", "name", "ours", "theirs"), DIFFERENCES)
def test_a_stated_difference(what, text, name, ours, theirs, told_of_differences):
    assert measure([text])[0][name] == pytest.approx(ours), what
    told = told_of_differences[text]
    assert told["values"][DATATROVE[name].peer] == pytest.approx(theirs), what
