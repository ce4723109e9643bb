"""The normalisation `fold-1`: what counts as the same text for duplicates and contamination.

Both sides of a comparison are folded in the same way, a code point at a time, by a table that is
made once for a stated Unicode version (`tools/make_fold_table.py`) and shipped.

- **Case and form.** Full case folding (`ß` as `ss`, both lower sigmas as one) and compatibility
  decomposition (full-width and half-width forms, ligatures, presentation forms, circled numbers,
  Hangul syllables as their letters). Marks are not put into canonical order.
- **Marks.** Nonspacing marks that the same word is also written without are dropped: accents of
  Latin, Greek and Cyrillic, Arabic vowel signs and hamza seats, Hebrew and Syriac points,
  variation selectors. Marks that spell the word stay: vowel signs, nuktas and viramas of Indic
  scripts, vowel and tone marks of Thai, Lao, Khmer and Burmese, the voiced marks of kana.
- **Tokens.** A token is a run of letters, numbers and their marks; every other character
  separates, so a token of punctuation alone does not exist. Format characters (zero-width
  joiners, soft hyphens) vanish without separating. Digits stay as they are.
- **Scripts without spaces.** Each letter of Han, Hiragana, Katakana, Bopomofo, Yi, Thai, Lao,
  Khmer, Burmese and their kin, with the marks after it, is a token of its own.

A code point begins at most one token: a word squared into one character is one token, `½` part
of one. So a text of n bytes has at most (n + 1) / 2 tokens: two words have a byte between them,
and a character that is a token of its own has three bytes or more.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

__all__ = [
    "BLOCK_BITS",
    "CHARACTER",
    "DROP",
    "KIND_SHIFT",
    "LETTER",
    "MARK",
    "NORMALISATION",
    "SEPARATOR",
    "SPELLED",
    "TABLE_PATH",
    "FoldTable",
    "fold_table",
]

NORMALISATION = "fold-1"
"""The name of this normalisation; raised when the tokens of any text change."""

TABLE_PATH = Path(__file__).with_name("fold_table.npz")

BLOCK_BITS = 7
KIND_SHIFT = 21

SEPARATOR = 0
"""Ends a token."""
DROP = 1
"""Vanishes, and belongs to the token that it stands in."""
LETTER = 2
"""Continues a word, or begins one."""
CHARACTER = 3
"""Is a token of its own."""
MARK = 4
"""Continues the token before it, of either sort; vanishes where there is none."""
SPELLED = 5
"""Becomes several of the above."""


@dataclass(frozen=True)
class FoldTable:
    """What each code point becomes, in two levels.

    The entry of code point c is `entries[index[c >> BLOCK_BITS] << BLOCK_BITS | c & 127]`:
    a kind in the bits from KIND_SHIFT on, and below it a code point (0: c itself), or for
    SPELLED the number s of a spelling, `spellings[spelling_offsets[s]:spelling_offsets[s + 1]]`,
    whose elements are entries again, with no code point left out. `ascii` holds the folded letter
    or digit of each byte below 128, and 0 for all other bytes.
    """

    index: np.ndarray
    entries: np.ndarray
    spelling_offsets: np.ndarray
    spellings: np.ndarray
    ascii: np.ndarray
    unicode_version: str


@cache
def fold_table() -> FoldTable:
    """Return the shipped table, read once for a process."""
    with np.load(TABLE_PATH) as stored:
        arrays = {name: stored[name] for name in stored.files}
    version = str(arrays.pop("unicode_version"))
    table = FoldTable(
        **arrays, ascii=_ascii(arrays["index"], arrays["entries"]), unicode_version=version
    )
    for array in (*arrays.values(), table.ascii):
        array.flags.writeable = False
    return table


def _ascii(index: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """Derive the byte table of the ASCII letters and digits."""
    folded = np.zeros(256, np.uint8)
    block = int(index[0]) << BLOCK_BITS
    for byte in range(128):
        entry = int(entries[block | byte])
        if entry >> KIND_SHIFT == LETTER:
            folded[byte] = (entry & ((1 << KIND_SHIFT) - 1)) or byte
    return folded
