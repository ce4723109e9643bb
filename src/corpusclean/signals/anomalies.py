"""Signals of broken or odd text: characters that should not be there, and unusual shares.

All fractions are over the characters of the text. Classes of characters are those of the Unicode
version that `corpusclean.text.unicode_classes` ships.
"""

from corpusclean.signals.measures import Measure, count, quotient
from corpusclean.signals.registry import Signal

__all__ = ["MEASURES", "REFERENCE"]

_FAULTS = {
    "control": "Control characters (category Cc) other than tab, line feed and carriage return",
    "replacement": "Replacement characters (U+FFFD), left over from failed decoding",
    "private_use": "Private-use characters (category Co)",
    "unassigned": "Unassigned code points and noncharacters (category Cn)",
}

_SHARES = {
    "digit": ("digits", "Decimal digits of any script (category Nd)"),
    "letter": ("letters", "Letters of any script (str.isalpha)"),
    "uppercase": ("uppercase", "Upper-case letters (category Lu)"),
    "whitespace": ("whitespace", "Whitespace characters (str.isspace)"),
    "cjk": ("cjk", "Han, Hiragana, Katakana and Hangul letters"),
}

MEASURES: tuple[Measure, ...] = (
    *(count(f"{fault}_characters", fault, f"{what}.") for fault, what in _FAULTS.items()),
    *(
        quotient(f"{fault}_fraction", fault, "characters", f"{what}, over all characters.")
        for fault, what in _FAULTS.items()
    ),
    *(
        quotient(f"{share}_fraction", counted, "characters", f"{what} over all characters.")
        for share, (counted, what) in _SHARES.items()
    ),
    count(
        "longest_unbroken_run",
        "longest_word",
        "Characters of the longest stretch without whitespace; 0 if there is none.",
    ),
)

REFERENCE: tuple[Signal, ...] = tuple(measure.signal for measure in MEASURES)
