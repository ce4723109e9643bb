"""Write the table of character classes.

    pip install unicodedata2==18.0.0 regex==2026.11.19
    python tools/make_unicode_classes.py

What each class means is stated in `corpusclean.text.unicode_classes`. General categories, bidi
classes, numeric values and names come from `unicodedata2`, so that the table does not depend on
the Python that runs this; the property Sentence_Terminal, which it lacks, comes from `regex`.
"""

import numpy as np
import regex
import unicodedata2

from corpusclean.text.unicode_classes import (
    ALPHABETIC,
    BLOCK_BITS,
    BULLET,
    CJK,
    CONTROL,
    DIGIT,
    LINE_BREAK,
    PRIVATE_USE,
    PUNCTUATION,
    REPLACEMENT,
    TABLE_PATH,
    TERMINAL,
    UNASSIGNED,
    UPPERCASE,
    WHITESPACE,
    WORD,
)

CODE_POINTS = 0x110000

LINE_BREAKS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"

EXTRA_TERMINALS = "\u037e\u0f0d\u0f0e\u17d6\u17d9\u17da"
"""Greek question mark; Tibetan shad and double shad; camnuc pii kuuh, phnaek muan and koomuut."""

BULLETS = "-*•‣⁃∙◦●○■□▪▫▶▸►·・"

CJK_NAMES = (
    "CJK UNIFIED IDEOGRAPH",
    "CJK COMPATIBILITY IDEOGRAPH",
    "IDEOGRAPHIC",
    "VERTICAL IDEOGRAPHIC",
    "HIRAGANA",
    "HENTAIGANA",
    "KATAKANA",
    "HALFWIDTH KATAKANA",
    "HANGUL",
    "HALFWIDTH HANGUL",
)
"""How the names of letters begin in Han, kana and Hangul."""

SENTENCE_TERMINAL = regex.compile(r"\p{Sentence_Terminal}")


def classes(code_point: int) -> int:
    """Return the class bits of one code point; a surrogate has none."""
    character = chr(code_point)
    category = unicodedata2.category(character)
    if category == "Cs":
        return 0
    bidirectional = unicodedata2.bidirectional(character)
    name = unicodedata2.name(character, "")
    alphabetic = category[0] == "L"
    numeric = unicodedata2.numeric(character, None) is not None
    terminal = SENTENCE_TERMINAL.match(character) or character in EXTRA_TERMINALS
    holds = {
        WHITESPACE: category == "Zs" or bidirectional in ("WS", "B", "S"),
        LINE_BREAK: character in LINE_BREAKS,
        ALPHABETIC: alphabetic,
        WORD: alphabetic or numeric or character == "_",
        TERMINAL: terminal,
        CONTROL: category == "Cc" and character not in "\t\n\r",
        UNASSIGNED: category == "Cn",
        PRIVATE_USE: category == "Co",
        REPLACEMENT: character == "\ufffd",
        DIGIT: category == "Nd",
        UPPERCASE: category == "Lu",
        CJK: category in ("Lo", "Lm", "Nl") and name.startswith(CJK_NAMES),
        PUNCTUATION: category[0] == "P",
        BULLET: character in BULLETS,
    }
    return sum(bit for bit, held in holds.items() if held)


def main() -> None:
    table = np.array([classes(c) for c in range(CODE_POINTS)], np.uint16)
    blocks, index = np.unique(table.reshape(-1, 1 << BLOCK_BITS), axis=0, return_inverse=True)
    np.savez_compressed(
        TABLE_PATH,
        index=index.ravel().astype(np.uint16),
        entries=blocks.ravel(),
        unicode_version=np.array(unicodedata2.unidata_version),
    )
    print(f"{TABLE_PATH}: {len(blocks)} blocks, Unicode {unicodedata2.unidata_version}")


if __name__ == "__main__":
    main()
