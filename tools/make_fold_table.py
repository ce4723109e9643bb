"""Write the table behind the normalisation of duplicates and contamination.

    pip install unicodedata2==18.0.0
    python tools/make_fold_table.py

What each code point becomes is stated in `corpusclean.text.folding`; this tool derives it from
the Unicode data of the `unicodedata2` package, so that the table does not depend on the Python
that runs it. Two things the package does not tell are taken elsewhere: case folding from
`str.casefold` for characters that this Python knows and from the names (CAPITAL, SMALL) for newer
ones, and the script from the first words of a character's name.
"""

import unicodedata
from pathlib import Path

import numpy as np
import unicodedata2

from corpusclean.text.folding import (
    BLOCK_BITS,
    CHARACTER,
    DROP,
    KIND_SHIFT,
    LETTER,
    MARK,
    SEPARATOR,
    SPELLED,
    TABLE_PATH,
)

CODE_POINTS = 0x110000

UNSPACED = (
    "CJK UNIFIED IDEOGRAPH",
    "CJK COMPATIBILITY IDEOGRAPH",
    "IDEOGRAPHIC",
    "VERTICAL IDEOGRAPHIC",
    "HIRAGANA",
    "KATAKANA",
    "BOPOMOFO",
    "HENTAIGANA",
    "THAI ",
    "LAO ",
    "KHMER ",
    "MYANMAR ",
    "TAI LE ",
    "NEW TAI LUE ",
    "TAI THAM ",
    "TAI VIET ",
    "AHOM ",
    "JAVANESE ",
    "BALINESE ",
    "YI SYLLABLE",
    "TANGUT ",
    "NUSHU ",
    "KHITAN ",
)
"""How the names of characters begin in scripts that put no space between words."""

OPTIONAL_MARKS = (
    "COMBINING ",
    "VARIATION SELECTOR",
    "MONGOLIAN FREE",
    "ARABIC ",
    "HEBREW ",
    "SYRIAC ",
)
"""How the names of nonspacing marks begin that the same words are also written without."""

VOICED_SOUND_MARKS = (0x3099, 0x309A)
"""Combining by name, but a kana with one is another kana."""

IGNORED_LETTERS = (0x0640, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)
"""Letters and marks without a sound: the Arabic tatweel, Hangul fillers, Khmer inherent vowels."""


def name(character: str) -> str:
    return unicodedata2.name(character, "")


def casefold(character: str) -> str:
    if unicodedata.category(character) != "Cn":
        return character.casefold()
    try:
        return unicodedata2.lookup(name(character).replace("CAPITAL LETTER", "SMALL LETTER"))
    except KeyError:
        return character


def kind(character: str) -> int:
    """Classify one character that has already been decomposed and case-folded."""
    category = unicodedata2.category(character)
    code_point = ord(character)
    if category == "Cf" or code_point in IGNORED_LETTERS:
        return DROP
    if category in ("Mn", "Me"):
        if code_point in VOICED_SOUND_MARKS:
            return MARK
        return DROP if name(character).startswith(OPTIONAL_MARKS) else MARK
    if category == "Mc":
        return MARK
    if category[0] not in "LN":
        return SEPARATOR
    if category == "Nd":
        return LETTER
    return CHARACTER if name(character).startswith(UNSPACED) else LETTER


def decomposed(character: str) -> str:
    folded = "".join(map(casefold, unicodedata2.normalize("NFKD", character)))
    return unicodedata2.normalize("NFKD", folded)


def spelling(character: str) -> list[tuple[int, int]]:
    """Return what a character becomes, as (kind, code point), with at most one token begun in it.

    A character that would become several tokens (a squared word, a fraction) becomes part of one,
    spelled with all its parts, so that a text of n bytes has at most (n + 1) / 2 tokens.
    """
    category = unicodedata2.category(character)
    if category in ("Cs", "Cn", "Co"):
        return [(SEPARATOR, 0)]
    superscript = unicodedata2.decomposition(character).startswith("<super>")
    if category[0] == "S" and superscript:
        return [(SEPARATOR, 0)]
    parts = [(kind(c), ord(c)) for c in decomposed(character)]
    parts = [(k, c) for k, c in parts if k != DROP]
    if not parts:
        return [(DROP, 0)]
    if all(k in (SEPARATOR, MARK) for k, _ in parts) and any(k == SEPARATOR for k, _ in parts):
        return [(SEPARATOR, 0)]
    return one_token(parts)


def one_token(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    first = next(i for i, (k, _) in enumerate(parts) if k != SEPARATOR)
    last = len(parts) - next(i for i, (k, _) in enumerate(reversed(parts)) if k != SEPARATOR)
    middle = parts[first:last]
    starts = [k for k, _ in middle if k != MARK]
    if starts.count(CHARACTER) > 1 or len(set(starts)) > 1:
        begin = CHARACTER if CHARACTER in starts else LETTER
        middle = [(begin if i == 0 else MARK, c) for i, (_, c) in enumerate(middle)]
    before = [(SEPARATOR, 0)] if first else []
    after = [(SEPARATOR, 0)] if last < len(parts) else []
    return before + middle + after


def encode(part: tuple[int, int], itself: int) -> int:
    part_kind, code_point = part
    value = 0 if code_point == itself else code_point
    return part_kind << KIND_SHIFT | value


def build() -> dict[str, np.ndarray]:
    """Return the arrays of the table; see `corpusclean.text.folding.FoldTable`."""
    entries = np.empty(CODE_POINTS, np.int32)
    spelled: dict[tuple[int, ...], int] = {}
    spellings: list[int] = []
    offsets = [0]
    for code_point in range(CODE_POINTS):
        parts = spelling(chr(code_point))
        if len(parts) == 1:
            entries[code_point] = encode(parts[0], code_point)
            continue
        encoded = tuple(encode(part, 0) for part in parts)
        if encoded not in spelled:
            spelled[encoded] = len(spelled)
            spellings.extend(encoded)
            offsets.append(len(spellings))
        entries[code_point] = SPELLED << KIND_SHIFT | spelled[encoded]
    blocks, index = np.unique(entries.reshape(-1, 1 << BLOCK_BITS), axis=0, return_inverse=True)
    return {
        "index": index.ravel().astype(np.uint16),
        "entries": np.ascontiguousarray(blocks).ravel(),
        "spelling_offsets": np.array(offsets, np.int32),
        "spellings": np.array(spellings, np.int32),
        "unicode_version": np.array(unicodedata2.unidata_version),
    }


def main() -> None:
    with Path(TABLE_PATH).open("wb") as file:
        np.savez_compressed(file, **build())
    print(f"{TABLE_PATH}: Unicode {unicodedata2.unidata_version}")


if __name__ == "__main__":
    main()
