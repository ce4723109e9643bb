"""What sort of character each code point is, for one stated version of Unicode.

The table is made once by `tools/make_unicode_classes.py` and shipped, so that a text has the same
numbers under every Python. Where a bit is named after a method of `str`, it agrees with that
method for every character that the running Python knows, apart from the few whose properties
Unicode has corrected since.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

__all__ = [
    "ALPHABETIC",
    "BLOCK_BITS",
    "BULLET",
    "CJK",
    "CONTROL",
    "DIGIT",
    "LINE_BREAK",
    "PRIVATE_USE",
    "PUNCTUATION",
    "REPLACEMENT",
    "TABLE_PATH",
    "TERMINAL",
    "UNASSIGNED",
    "UPPERCASE",
    "WHITESPACE",
    "WORD",
    "ClassTable",
    "class_table",
]

TABLE_PATH = Path(__file__).with_name("unicode_classes.npz")

BLOCK_BITS = 7

WHITESPACE = 1 << 0
"""As `str.isspace`."""
LINE_BREAK = 1 << 1
"""Where `str.splitlines` ends a line."""
ALPHABETIC = 1 << 2
"""As `str.isalpha`: the letters of every script, ideographs among them; marks are not."""
WORD = 1 << 3
"""As `\\w` of `re`: letters, numbers and the underscore; marks are not."""
TERMINAL = 1 << 4
"""Ends a sentence: Unicode's Sentence_Terminal, the Greek question mark, the shad of Tibetan and
the section ends of Khmer. Quotation marks and the ellipsis character are not among them."""
CONTROL = 1 << 5
"""General category Cc without tab, line feed and carriage return."""
UNASSIGNED = 1 << 6
"""General category Cn: reserved code points and noncharacters."""
PRIVATE_USE = 1 << 7
"""General category Co."""
REPLACEMENT = 1 << 8
"""U+FFFD alone."""
DIGIT = 1 << 9
"""General category Nd."""
UPPERCASE = 1 << 10
"""General category Lu."""
CJK = 1 << 11
"""Letters of Han, Hiragana, Katakana and Hangul, in every width."""
PUNCTUATION = 1 << 12
"""General categories Pc, Pd, Ps, Pe, Pi, Pf and Po."""
BULLET = 1 << 13
"""May begin an item of a list: `- * •` and the bullets of Unicode; the tool has the list."""


@dataclass(frozen=True)
class ClassTable:
    """The classes of all code points, in two levels.

    Those of code point c are the bits of
    `entries[index[c >> BLOCK_BITS] << BLOCK_BITS | c & (1 << BLOCK_BITS) - 1]`, a uint16.
    """

    index: np.ndarray
    entries: np.ndarray
    unicode_version: str

    def classes(self, code_points: np.ndarray) -> np.ndarray:
        """Return the class bits of an array of code points."""
        blocks = self.index[code_points >> BLOCK_BITS].astype(np.int64) << BLOCK_BITS
        return self.entries[blocks | code_points & (1 << BLOCK_BITS) - 1]


@cache
def class_table() -> ClassTable:
    """Return the shipped table, read once for a process."""
    with np.load(TABLE_PATH) as stored:
        index, entries = stored["index"], stored["entries"]
        version = str(stored["unicode_version"])
    for array in (index, entries):
        array.flags.writeable = False
    return ClassTable(index, entries, version)
