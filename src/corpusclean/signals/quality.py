"""Signals of the published quality rules: Gopher's, and those that FineWeb adds.

What the papers leave open is decided here and said in each reference. A line is a piece between
newlines with its trailing whitespace taken off, and blank pieces are no lines. Signals that
depend on what a word is exist for both kinds of words.
"""

from corpusclean.signals.measures import FINEWEB, GOPHER, WORD_KINDS, Measure, count, quotient
from corpusclean.signals.registry import Signal
from corpusclean.text.lines import SHORT_LINE
from corpusclean.text.words import STOP_WORDS

__all__ = ["MEASURES", "REFERENCE"]


def _of_words(suffix: str, words: str) -> tuple[Measure, ...]:
    """Return the signals that depend on what a word is, for one kind of words."""
    per = f"words{suffix}"
    return (
        quotient(
            f"mean_word_length{suffix}",
            "visible",
            per,
            f"Characters of all words over the number of words; {words}.",
            GOPHER,
            "number",
        ),
        quotient(
            f"hash_word_ratio{suffix}",
            "hashes",
            per,
            f"Number signs (#), wherever they stand, over the number of words; {words}.",
            GOPHER,
            "number",
        ),
        quotient(
            f"ellipsis_word_ratio{suffix}",
            "ellipses",
            per,
            "Ellipses, wherever they stand, over the number of words: each ellipsis character "
            f"(U+2026), and each three full stops of a run; {words}.",
            GOPHER,
            "number",
        ),
        quotient(
            f"alphabetic_word_fraction{suffix}",
            f"alphabetic_words{suffix}",
            per,
            "Words with at least one letter of any script (str.isalpha) over the number of "
            f"words; {words}.",
            GOPHER,
        ),
        count(
            f"stop_words{suffix}",
            f"stop_words{suffix}",
            f"How many of the {len(STOP_WORDS)} English words {', '.join(STOP_WORDS)} occur as a "
            f"word in any case, each counted once; {words}.",
            GOPHER,
        ),
        quotient(
            f"newline_word_ratio{suffix}",
            "newlines",
            per,
            f"Newlines, those of blank lines among them, over the number of words; {words}.",
            FINEWEB,
            "number",
        ),
    )


MEASURES: tuple[Measure, ...] = (
    *(measure for kind in WORD_KINDS.items() for measure in _of_words(*kind)),
    quotient(
        "bullet_line_fraction",
        "bullet_lines",
        "lines",
        "Lines whose first visible character is a bullet over the number of lines; bullets are "
        "- * • ‣ ⁃ ∙ ◦ ● ○ ■ □ ▪ ▫ ▶ ▸ ► · ・.",
        GOPHER,
    ),
    quotient(
        "ellipsis_line_fraction",
        "ellipsis_lines",
        "lines",
        "Lines that end in three full stops or in the ellipsis character (U+2026) over the "
        "number of lines.",
        GOPHER,
    ),
    quotient(
        "terminal_line_fraction",
        "terminal_lines",
        "lines",
        "Lines whose last character ends a sentence in some script over the number of lines: "
        "Unicode's Sentence_Terminal, the Greek question mark, the Tibetan shad and the section "
        "ends of Khmer; neither quotation marks nor the ellipsis character (U+2026).",
        FINEWEB,
    ),
    quotient(
        "short_line_fraction",
        "short_lines",
        "lines",
        f"Lines of at most {SHORT_LINE} characters over the number of lines.",
        FINEWEB,
    ),
)

REFERENCE: tuple[Signal, ...] = tuple(measure.signal for measure in MEASURES)
