"""Our signals against Dolma's own tagger gopher_v1: equal where the definitions are."""

import pytest
from asking import measure
from definitions import DOLMA, dense, stop_words_are_small

EQUAL = [name for name, definition in DOLMA.items() if not definition.otherwise]
DUPLICATES = [f"duplicate_{n}gram_character_fraction" for n in range(5, 11)]

# What is defined otherwise, each on a text that shows it: signal, ours, Dolma's.
DIFFERENCES = [
    ("the median", "a bbb ccc", "mean_word_length", 7 / 3, 3.0),
    ("occurrences", "the the and", "stop_words", 2, 3),
    ("capitals", "The AND", "stop_words", 2, 0),
    ("indented", "  - a\n- b", "bullet_line_fraction", 1.0, 0.5),
    ("other bullets", "• a\n• b", "bullet_line_fraction", 1.0, 0.0),
    ("full stops", "so...\nno…", "ellipsis_line_fraction", 1.0, 0.5),
    ("the first copy", "a\nb\na", "duplicate_line_fraction", 1 / 3, 2 / 3),
    ("blank lines", "a\n\nb\n\nc", "duplicate_line_fraction", 0.0, 2 / 5),
    ("characters of words", "a b\na b", "duplicate_line_character_fraction", 3 / 7, 6 / 4),
    ("an n-gram once", "a b c", "top_2gram_character_fraction", 0.0, 2 / 3),
    ("characters of words", "a b a b", "top_2gram_character_fraction", 6 / 7, 1.0),
    ("characters of n-grams", "a b c d e " * 2, DUPLICATES[0], 0.9, 1 / 3),
]


@pytest.fixture(scope="module")
def pairs(texts, dolma):
    """Each text with our signals and Dolma's attributes."""
    answers = [answer["values"] for answer in dolma(texts)]
    return list(zip(texts, measure(texts), answers, strict=True))


@pytest.mark.parametrize("name", EQUAL)
def test_equal_by_definition(name, pairs):
    for text, ours, theirs in pairs:
        if DOLMA[name].equal(text):
            assert ours[name] == theirs[DOLMA[name].peer], text


@pytest.mark.parametrize("name", DUPLICATES)
def test_the_same_documents_hold_a_duplicate_ngram(name, pairs):
    for text, ours, theirs in pairs:
        assert (ours[name] or 0) > 0 or theirs.get(DOLMA[name].peer, 0) == 0, text
        assert theirs.get(DOLMA[name].peer, 0) > 0 or not ours[name], text


def test_the_same_documents_hold_a_duplicate_line(pairs):
    for text, ours, theirs in pairs:
        if dense(text):
            alike = theirs["fraction_of_duplicate_lines"] > 0
            assert (ours["duplicate_line_fraction"] > 0) == alike, text


def test_the_same_documents_hold_a_stop_word(pairs):
    for text, ours, theirs in pairs:
        if stop_words_are_small(text):
            assert (ours["stop_words"] > 0) == (theirs["required_word_count"] > 0), text
            assert ours["stop_words"] <= theirs["required_word_count"], text


def test_symbols_are_both_of_our_ratios_where_a_word_holds_one(pairs):
    for text, ours, theirs in pairs:
        words = text.split()
        lone = all(word.count("#") + word.count("…") <= 1 for word in words)
        if words and lone and "..." not in text:
            both = ours["hash_word_ratio"] + ours["ellipsis_word_ratio"]
            assert both == pytest.approx(theirs["symbol_to_word_ratio"]), text


@pytest.fixture(scope="module")
def told_of_differences(dolma):
    """What is said of the texts of all differences: starting the peer takes longest."""
    shown = [text for _, text, *_ in DIFFERENCES]
    return dict(zip(shown, dolma(shown), strict=True))


@pytest.mark.parametrize(("what", "text", "name", "ours", "theirs"), DIFFERENCES)
def test_a_stated_difference(what, text, name, ours, theirs, told_of_differences):
    assert measure([text])[0][name] == pytest.approx(ours), what
    told = told_of_differences[text]
    assert told["values"][DOLMA[name].peer] == pytest.approx(theirs), what
