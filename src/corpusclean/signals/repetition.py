"""Signals of the published repetition rules: Gopher's.

Of copies, the second and later ones are duplicated, the first is not. For n-grams the characters
of the text are what is counted: those between the words of an n-gram belong to it, and no
character is counted twice. An n-gram that occurs once is never the most frequent one.
"""

from corpusclean.signals.measures import GOPHER, WORD_KINDS, Measure, quotient
from corpusclean.signals.registry import Signal
from corpusclean.text.repetition import LARGEST_ORDER, LARGEST_TOP_ORDER, SMALLEST_ORDER

__all__ = ["MEASURES", "REFERENCE"]

_LINE = "a line is a piece between newlines that is not blank, without its trailing whitespace"
_PARAGRAPH = (
    "a paragraph is a longest run of lines without a blank one between them, its characters "
    "those of its lines and a newline between each two"
)


def _of_words(suffix: str, words: str) -> tuple[Measure, ...]:
    """Return the n-gram signals for one kind of words."""
    tops = tuple(
        quotient(
            f"top_{order}gram_character_fraction{suffix}",
            f"repeated_{order}gram_characters{suffix}",
            "characters",
            f"Characters covered by all occurrences of the most frequent {order}-gram of words "
            "over the characters of the text; it must occur twice, and of equally frequent ones "
            f"that which covers most is taken; {words}.",
            GOPHER,
        )
        for order in range(SMALLEST_ORDER, LARGEST_TOP_ORDER + 1)
    )
    duplicates = tuple(
        quotient(
            f"duplicate_{order}gram_character_fraction{suffix}",
            f"repeated_{order}gram_characters{suffix}",
            "characters",
            f"Characters covered by the occurrences of all {order}-grams of words that occur at "
            f"least twice over the characters of the text; {words}.",
            GOPHER,
        )
        for order in range(LARGEST_TOP_ORDER + 1, LARGEST_ORDER + 1)
    )
    return tops + duplicates


MEASURES: tuple[Measure, ...] = (
    quotient(
        "duplicate_line_fraction",
        "duplicate_lines",
        "lines",
        f"Second and later copies of a line over the number of lines; {_LINE}.",
        GOPHER,
    ),
    quotient(
        "duplicate_paragraph_fraction",
        "duplicate_paragraphs",
        "paragraphs",
        "Second and later copies of a paragraph over the number of paragraphs; "
        f"{_PARAGRAPH}; {_LINE}.",
        GOPHER,
    ),
    quotient(
        "duplicate_line_character_fraction",
        "duplicate_line_characters",
        "characters",
        "Characters of second and later copies of a line over the characters of the text; "
        f"{_LINE}.",
        GOPHER,
    ),
    quotient(
        "duplicate_paragraph_character_fraction",
        "duplicate_paragraph_characters",
        "characters",
        "Characters of second and later copies of a paragraph over the characters of the text; "
        f"{_PARAGRAPH}; {_LINE}.",
        GOPHER,
    ),
    *(measure for kind in WORD_KINDS.items() for measure in _of_words(*kind)),
)

REFERENCE: tuple[Signal, ...] = tuple(measure.signal for measure in MEASURES)
