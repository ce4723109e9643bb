"""The token stream, against tables and an independent statement in plain Python."""

import tracemalloc
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.text.normalise import TokenStream, tokens

DROPPED = [
    (0x00AD, 0x00AD), (0x0300, 0x036F), (0x0483, 0x0489), (0x0591, 0x05BD), (0x05BF, 0x05BF),
    (0x05C1, 0x05C2), (0x05C4, 0x05C5), (0x05C7, 0x05C7), (0x0610, 0x061A), (0x0640, 0x0640),
    (0x064B, 0x065F), (0x0670, 0x0670), (0x200B, 0x200F), (0x2060, 0x2064), (0x20D0, 0x20F0),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
]  # fmt: skip
SINGLE = [
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3041, 0x30FF),
    (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
]  # fmt: skip


def within(code_point: int, ranges: list[tuple[int, int]]) -> bool:
    return any(first <= code_point <= last for first, last in ranges)


def decomposed(character: str) -> list[str]:
    return list(unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold()))


def sort_of(part: str) -> str:
    category = unicodedata.category(part[0])
    if within(ord(part[0]), DROPPED):
        return "nothing"
    if category in ("Mn", "Mc"):
        return "mark"
    if category[0] not in "LN":
        return "separator"
    singles = [within(ord(c), SINGLE) and unicodedata.category(c) != "Nd" for c in part]
    return "single" if any(singles) else "word"


def is_several(parts: list[str]) -> bool:
    """Tell whether a character stands for more than a run of letters or a single."""
    sorts = [sort for sort in map(sort_of, parts) if sort not in ("mark", "nothing")]
    begun = [sort for sort in sorts if sort != "separator"]
    if not begun:
        return False
    outside = sorts.index(begun[0]) + sorts[::-1].index(begun[-1])
    broken = len(sorts) - outside > len(begun)
    return broken or begun.count("single") > 1 or len(set(begun)) > 1


def naive(text: str) -> list[tuple[str, bool, int, int]]:
    """Return the tokens as (folded, single, start, end)."""
    found: list[tuple[str, bool, int, int]] = []
    folded, single, start = "", False, 0

    def close(position: int) -> None:
        nonlocal folded
        if folded:
            found.append((folded, single, start, position))
        folded = ""

    for position, character in enumerate(text):
        parts = decomposed(character)
        if is_several(parts):
            # One token, or part of one, spelled with everything between its first and last letter.
            letters = [i for i, part in enumerate(parts) if sort_of(part) in ("word", "single")]
            parts = [*parts[: letters[0]], "".join(parts[letters[0] : letters[-1] + 1])]
        for part in parts:
            sort = sort_of(part)
            if sort == "separator":
                close(max(position, start + 1))
            elif sort == "mark":
                folded += part if folded else ""
            elif sort != "nothing":
                if sort == "single" or single or not folded:
                    close(max(position, start + 1))
                    single, start = sort == "single", position
                folded += part
    close(len(text))
    return found


def naive_hash(folded: str, single: bool) -> int:
    h = 0
    for character in folded:
        h = (h * 0x9E3779B97F4A7C15 + ord(character) + 1) % 2**64
    for multiplier in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        h = (h ^ h >> 33) * multiplier % 2**64
    return (h ^ h >> 33) & ~1 | int(single)


def stream(*texts: str) -> TokenStream:
    return tokens(pa.array(texts, pa.large_string()))


def surfaces(text: str) -> list[str]:
    found = stream(text)
    return [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)]


ALPHABET = st.one_of(
    st.characters(max_codepoint=0x7F),
    st.sampled_from(
        "éÉßñÅøςΣσάЁёйЇ\u0301\u0308\u00ad\u200b\u200dאָבّمَرْحَبًاأـ٣कक्षिग़क़ि१กำนุ้ำเ๓ລໍາမြန်ខ្មែរ"
        "한국어ᄒ日本語がカﾞｶＡＢ７，。！　ﬁǅⅣ²½ﷺ㍿㈱㋀℀℃€«»…—😀👍🏽👨‍👩‍👧❤️中国々〇ー𠀀𝔄"
    ),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.text(ALPHABET, max_size=30), max_size=4))
def test_tokens_are_those_of_the_plain_statement(texts: list[str]) -> None:
    found = stream(*texts)
    assert len(found) == len(texts)
    for i, text in enumerate(texts):
        begin, end = found.offsets[i : i + 2]
        expected = naive(text)
        assert found.hashes[begin:end].tolist() == [naive_hash(f, s) for f, s, _, _ in expected]
        assert found.starts[begin:end].tolist() == [start for _, _, start, _ in expected]
        assert found.ends[begin:end].tolist() == [stop for _, _, _, stop in expected]


@settings(deadline=None)
@given(st.text(ALPHABET, max_size=40))
def test_tokens_lie_apart_and_in_order(text: str) -> None:
    found = stream(text)
    edges = np.stack([found.starts, found.ends], axis=1).ravel()
    assert (np.diff(edges) >= 0).all()
    assert (found.starts < found.ends).all()
    assert not len(edges) or edges[-1] <= len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   \n\t", []),
        ("!?… — 😀", []),
        ("a - b", ["a", "b"]),
        ("It's 3.5%", ["It", "s", "3", "5"]),
        ("one\r\ntwo", ["one", "two"]),
        ("end", ["end"]),
        ("snake_case", ["snake", "case"]),
        ("abc123", ["abc123"]),
        ("e\u0301te\u0301!", ["e\u0301te\u0301"]),
        ("co\u00adop", ["co\u00adop"]),
        ("今天天气", ["今", "天", "天", "气"]),
        ("今天abc天气。", ["今", "天", "abc", "天", "气"]),
        ("カ\u3099キ", ["カ\u3099", "キ"]),
        ("ｶﾞｷ", ["ｶﾞ", "ｷ"]),
        # Sara am is a nikhahit on the letter before it and a sara aa of its own.
        ("กินน้ำ", ["กิ", "น", "น้", "\u0e33"]),
        ("क्षत्रिय हिन्दी", ["क्षत्रिय", "हिन्दी"]),
        ("مَرْحَبًا بكم", ["مَرْحَبًا", "بكم"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("👍🏽 ok ❤️", ["ok"]),
        ("١٢٣ ۴۵", ["١٢٣", "۴۵"]),
        ("½ cup", ["½", "cup"]),
    ],
)
def test_what_a_token_is(text: str, expected: list[str]) -> None:
    assert surfaces(text) == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a - b", "a b"),
        ("Hello, World!", "hello world"),
        ("ΣΟΦΟΣ", "σοφος"),
        ("ΣΟΦΟΣ", "σοφός"),
        ("Straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("café", "CAFE"),
        ("Ｆｕｌｌ　Ｗｉｄｔｈ１２", "full width12"),
        ("ﬁne", "fine"),
        ("ｶﾞﾗｽ", "ガラス"),
        ("か\u3099", "が"),
        ("한", "\u1112\u1161\u11ab"),
        ("क़लम", "क\u093cलम"),
        ("مَرْحَبًا", "مرحبا"),
        ("مـــرحبا", "مرحبا"),
        ("أحمد", "احمد"),
        ("ﻣﺮﺣﺒﺎ", "مرحبا"),
        ("שָׁלוֹם", "שלום"),
        ("ё", "е"),
        ("น้ำ", "น\u0e49\u0e4d\u0e32"),
        ("zero\u200bwidth", "zerowidth"),
        ("❤️ yes", "yes"),
        ("中，文。", "中文"),
        ("İstanbul", "istanbul"),
    ],
)
def test_the_same_text(left: str, right: str) -> None:
    assert stream(left).hashes.tolist() == stream(right).hashes.tolist()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ab c", "a bc"),
        ("कि", "की"),
        ("कल", "क्ल"),
        ("กิน", "กัน"),
        ("มา", "ม้า"),
        ("が", "か"),
        ("は", "ぱ"),
        ("12", "1 2"),
        ("½", "12"),
        ("2019", "2020"),
        ("a", "а"),
        ("", "a"),
        ("中文", "文中"),
    ],
)
def test_different_texts(left: str, right: str) -> None:
    assert stream(left).hashes.tolist() != stream(right).hashes.tolist()


def test_bit_0_tells_characters_from_words() -> None:
    assert (stream("word 字 ไ 12").hashes & np.uint64(1)).tolist() == [0, 1, 1, 0]


def test_batches_slices_nulls_and_chunks() -> None:
    texts = pa.array(["skip", "a b", None, "", "c"], pa.large_string())
    found = tokens(texts.slice(1))
    assert found.offsets.tolist() == [0, 2, 2, 2, 3]
    assert found.hashes.tolist() == stream("a b", "c").hashes.tolist()
    chunked = pa.chunked_array([["a b"], [], ["c"]], pa.string())
    assert tokens(chunked).offsets.tolist() == [0, 2, 3]
    assert tokens(pa.array([], pa.large_string())).offsets.tolist() == [0]
    assert tokens(pa.array(["", ""], pa.large_string())).offsets.tolist() == [0, 0, 0]


@pytest.mark.parametrize("unit", ["a b ", "中a", "a½b½", "ﷺa", "a"])
def test_as_many_tokens_as_bytes_allow(unit: str) -> None:
    text = unit * 50_000
    tracemalloc.start()
    found = stream(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = len(text.encode())
    assert len(stream(unit * 50).hashes) == len(naive(unit * 50))
    assert len(found.hashes) <= (size + 1) // 2
    assert peak < 12 * size + 2_000_000
