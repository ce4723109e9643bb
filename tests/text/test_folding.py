"""The shipped fold table."""

import importlib.util
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from corpusclean.text.folding import (
    BLOCK_BITS,
    CHARACTER,
    DROP,
    KIND_SHIFT,
    LETTER,
    MARK,
    SEPARATOR,
    SPELLED,
    fold_table,
)

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_fold_table.py"


def entries(code_point: int) -> list[tuple[int, int]]:
    table = fold_table()
    block = int(table.index[code_point >> BLOCK_BITS]) << BLOCK_BITS
    entry = int(table.entries[block | code_point & 127])
    kind, value = entry >> KIND_SHIFT, entry & (1 << KIND_SHIFT) - 1
    if kind == SPELLED:
        begin, end = table.spelling_offsets[value : value + 2]
        return [
            (int(e) >> KIND_SHIFT, int(e) & (1 << KIND_SHIFT) - 1)
            for e in table.spellings[begin:end]
        ]
    if kind in (SEPARATOR, DROP):
        return [(kind, 0)]
    return [(kind, value or code_point)]


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("a", [(LETTER, "a")]),
        ("A", [(LETTER, "a")]),
        ("é", [(LETTER, "e")]),
        ("ß", [(LETTER, "s"), (LETTER, "s")]),
        ("ς", [(LETTER, "σ")]),
        ("ﬁ", [(LETTER, "f"), (LETTER, "i")]),
        ("Ａ", [(LETTER, "a")]),
        ("７", [(LETTER, "7")]),
        ("٣", [(LETTER, "٣")]),
        ("²", [(LETTER, "2")]),
        ("½", [(LETTER, "1"), (MARK, "⁄"), (MARK, "2")]),
        ("中", [(CHARACTER, "中")]),
        ("⾯", [(CHARACTER, "面")]),
        ("の", [(CHARACTER, "の")]),
        ("が", [(CHARACTER, "か"), (MARK, "\u3099")]),
        ("ｶ", [(CHARACTER, "カ")]),
        ("ー", [(CHARACTER, "ー")]),
        ("々", [(CHARACTER, "々")]),
        ("㋀", [(CHARACTER, "1"), (MARK, "月")]),
        ("㈱", [(SEPARATOR, ""), (CHARACTER, "株"), (SEPARATOR, "")]),
        ("ก", [(CHARACTER, "ก")]),
        ("\u0e34", [(MARK, "\u0e34")]),
        ("\u0e33", [(MARK, "\u0e4d"), (CHARACTER, "\u0e32")]),
        ("\u093f", [(MARK, "\u093f")]),
        ("\u094d", [(MARK, "\u094d")]),
        ("\u064e", [(DROP, "")]),
        ("\u0640", [(DROP, "")]),
        ("\u0301", [(DROP, "")]),
        ("\u200d", [(DROP, "")]),
        ("\ufe0f", [(DROP, "")]),
        ("\u00ad", [(DROP, "")]),
        ("한", [(LETTER, "\u1112"), (LETTER, "\u1161"), (LETTER, "\u11ab")]),
        (" ", [(SEPARATOR, "")]),
        ("\u00a0", [(SEPARATOR, "")]),
        ("\n", [(SEPARATOR, "")]),
        ("_", [(SEPARATOR, "")]),
        ("。", [(SEPARATOR, "")]),
        ("，", [(SEPARATOR, "")]),
        ("¨", [(SEPARATOR, "")]),
        ("™", [(SEPARATOR, "")]),
        ("😀", [(SEPARATOR, "")]),
        ("\ufffd", [(SEPARATOR, "")]),
        ("\ue000", [(SEPARATOR, "")]),
    ],
)
def test_what_a_character_becomes(character: str, expected: list[tuple[int, str]]) -> None:
    assert entries(ord(character)) == [(k, ord(c) if c else 0) for k, c in expected]


def test_letters_newer_than_unicode_15_fold_case() -> None:
    assert fold_table().unicode_version == "18.0.0"
    assert entries(0xA7CB) == entries(0x0264)
    assert entries(0x10D50) == entries(0x10D70) == [(LETTER, 0x10D70)]


def test_no_code_point_begins_two_tokens_and_singles_have_three_bytes() -> None:
    for code_point in range(0x110000):
        if 0xD800 <= code_point < 0xE000:
            continue
        kinds = [kind for kind, _ in entries(code_point)]
        assert kinds.count(CHARACTER) <= 1
        assert not (CHARACTER in kinds and LETTER in kinds)
        if CHARACTER in kinds:
            assert code_point >= 0x800
        inner = kinds[1:-1]
        assert SEPARATOR not in inner


def test_letters_and_digits_of_other_scripts_are_never_lost() -> None:
    lost = [
        code_point
        for code_point in range(0x110000)
        if unicodedata.category(chr(code_point)) in ("Lu", "Ll", "Lt", "Lo", "Nd")
        and not {LETTER, CHARACTER} & {kind for kind, _ in entries(code_point)}
        and not 0xFC5E <= code_point <= 0xFEFF  # Arabic marks in forms to stand alone
    ]
    fillers = [0x115F, 0x1160, 0x3164, 0xFFA0]
    assert lost == fillers


def test_the_tool_makes_the_shipped_table() -> None:
    pytest.importorskip("unicodedata2", reason="the tool reads Unicode 18 from this package")
    spec = importlib.util.spec_from_file_location("make_fold_table", TOOL)
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    made = tool.build()
    table = fold_table()
    for name in ("index", "entries", "spelling_offsets", "spellings"):
        np.testing.assert_array_equal(made[name], getattr(table, name))
    assert str(made["unicode_version"]) == table.unicode_version
