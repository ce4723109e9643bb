"""The whole family `signals` against a plain statement of every definition."""

import functools
import io
import json
import math
import re
import unicodedata
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.signals.document import measure_document_signals
from corpusclean.text.unicode_classes import CJK, TERMINAL, class_table

BULLETS = "-*•‣⁃∙◦●○■□▪▫▶▸►·・"
STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}
WORDS = {"": r"\S+", "_unicode": r"\w+|[^\w\s]"}


@functools.cache
def has_class(character: str, bit: int) -> bool:
    return bool(class_table().classes(np.array([ord(character)]))[0] & bit)


def over(count: int, denominator: int) -> float | None:
    return count / denominator if denominator else None


def lines_of(text: str) -> list[str]:
    return [piece.rstrip() for piece in text.split("\n") if piece.strip()]


def paragraphs_of(text: str) -> list[str]:
    paragraphs: list[list[str]] = []
    previous = ""
    for piece in text.split("\n"):
        if piece.strip():
            if not previous.strip():
                paragraphs.append([])
            paragraphs[-1].append(piece.rstrip())
        previous = piece
    return ["\n".join(lines) for lines in paragraphs]


def later_copies(segments: list[str]) -> list[str]:
    return [segment for i, segment in enumerate(segments) if segment in segments[:i]]


def covered(text: str, spans: list[tuple[int, int]]) -> int:
    mask = bytearray(len(text))
    for start, end in spans:
        mask[start:end] = b"\x01" * (end - start)
    return sum(mask)


def ngram_characters(text: str, pattern: str, order: int) -> int:
    """Count the characters of the top n-gram, or of all repeated ones above 4."""
    words = [(m.group(), m.start(), m.end()) for m in re.finditer(pattern, text)]
    places = defaultdict(list)
    for i in range(len(words) - order + 1):
        gram = words[i : i + order]
        places[tuple(word for word, _, _ in gram)].append((gram[0][1], gram[-1][2]))
    repeated = [spans for spans in places.values() if len(spans) > 1]
    if order > 4:
        return covered(text, [span for spans in repeated for span in spans])
    return max(((len(spans), covered(text, spans)) for spans in repeated), default=(0, 0))[1]


def naive_signals(text: str) -> dict[str, float | int | None]:
    lines, paragraphs = lines_of(text), paragraphs_of(text)
    characters = len(text)
    categories = [unicodedata.category(c) for c in text]
    faults = {
        "control": sum(
            k == "Cc" and c not in "\t\n\r" for c, k in zip(text, categories, strict=True)
        ),
        "replacement": text.count("\ufffd"),
        "private_use": categories.count("Co"),
        "unassigned": categories.count("Cn"),
    }
    shares = {
        "digit": sum(map(str.isdecimal, text)),
        "letter": sum(map(str.isalpha, text)),
        "uppercase": categories.count("Lu"),
        "whitespace": sum(map(str.isspace, text)),
        "cjk": sum(has_class(c, CJK) for c in text),
    }
    ellipses = text.count("...") + text.count("…")
    endings = ("...", "…")
    signals = {
        "characters": characters,
        "bytes": len(text.encode()),
        "letters": shares["letter"],
        "lines": len(lines),
        "paragraphs": len(paragraphs),
        "bullet_line_fraction": over(
            sum(line.lstrip()[0] in BULLETS for line in lines), len(lines)
        ),
        "ellipsis_line_fraction": over(sum(line.endswith(endings) for line in lines), len(lines)),
        "terminal_line_fraction": over(
            sum(has_class(line[-1], TERMINAL) for line in lines), len(lines)
        ),
        "short_line_fraction": over(sum(len(line) <= 30 for line in lines), len(lines)),
        "longest_unbroken_run": max(map(len, text.split()), default=0),
    }
    for kind, segments in (("line", lines), ("paragraph", paragraphs)):
        copies = later_copies(segments)
        signals[f"duplicate_{kind}_fraction"] = over(len(copies), len(segments))
        signals[f"duplicate_{kind}_character_fraction"] = over(sum(map(len, copies)), characters)
    for name, number in faults.items():
        signals[f"{name}_characters"] = number
        signals[f"{name}_fraction"] = over(number, characters)
    for name, number in shares.items():
        signals[f"{name}_fraction"] = over(number, characters)
    for suffix, pattern in WORDS.items():
        words = text.split() if suffix == "" else re.findall(pattern, text)
        of_words = {
            "words": len(words),
            "max_word_length": max(map(len, words), default=0),
            "mean_word_length": over(sum(map(len, words)), len(words)),
            "hash_word_ratio": over(text.count("#"), len(words)),
            "ellipsis_word_ratio": over(ellipses, len(words)),
            "alphabetic_word_fraction": over(
                sum(any(map(str.isalpha, word)) for word in words), len(words)
            ),
            "stop_words": len({word.casefold() for word in words} & STOP_WORDS),
            "newline_word_ratio": over(text.count("\n"), len(words)),
        }
        for order in range(2, 11):
            kind = "top" if order <= 4 else "duplicate"
            of_words[f"{kind}_{order}gram_character_fraction"] = over(
                ngram_characters(text, pattern, order), characters
            )
        signals |= {f"{name}{suffix}": value for name, value in of_words.items()}
    return signals


def assert_as_stated(texts: list[str]) -> None:
    measured = measure_document_signals(pa.array(texts, pa.large_string())).to_pylist()
    for text, signals in zip(texts, measured, strict=True):
        expected = naive_signals(text)
        differing = {n: (signals[n], expected[n]) for n in expected if signals[n] != expected[n]}
        assert not differing, text
        assert set(signals) == set(expected)


TABLE = [
    "",
    " ",
    "\n",
    "\r\n\r\n",
    "\u3000\u2003\n\x85\u2028",
    "a",
    "a b c",
    "One sentence. Another one...\nA third… and #hash ##\n",
    "- item\n* item\n• item\n  ▪ item\n– no item\n#no item",
    "Ends.\r\nEnds!\r\nEnds?\r\nends",
    "....... … .. ...\n...\n…\n..\n. . .\n",
    "THE Be tO oF and, That-have (with)",
    "ſthe beſ to\u0301 ＴＨＥ of_ _and that1 2have",
    "the the the the the the",
    "今天天气很好。" * 30,
    "今天天气很好。明天也是。\n今天天气很好。\n\n段落。\n",
    "これは日本語の文章です。カタカナー、ﾊﾝｶｸ。\n「はい」\n",
    "ภาษาไทยไม่มีช่องว่าง ภาษาไทยไม่มีช่องว่าง",
    "هذه جملة عربية؟ نعم. هذه جملة عربية؟ نعم.\n",
    "यह एक वाक्य है। यह एक वाक्य है। यह एक वाक्य है॥\n",
    "한국어 문장입니다. 한국어 문장입니다.\n",
    "Σίσυφος; Ελληνικά· ΣΑΣ\nЁжик в тумане. Ёжик в тумане.",
    "🎉🎉🎉 👩‍👩‍👧 🇩🇪🇫🇷 e\u0301 n\u0303 \u0301alone",
    "tabs\tand\x0bvertical\x0cfeed\x1cseparators\x1f\u00a0no-break\u200bzero",
    "\x00\x01\x7f\x80\x9f \ufffd\ufffd \ue000\U0010fffd \ufdd0\uffff\U0010ffff \u0378",
    "١٢٣ 123 １２３ ½ ² Ⅷ ① 三",
    "line\n\nline\n\nline\n \nline  \n  line\nline\u3000\n",
    "para one.\n\n\n\npara two.\n\n\n\npara three.\n\n",
    "a\nb\n\na\nb\n \na\nb\nc\n\na b\n\na\nb\n",
    "ab c x y ab c x y a bc x y",
    "a  b   c\na   b  c\na b c\n",
    "a-b a - b a -b a-b a- b",
    "x" * 50_000,
    "word " * 10_000,
    "spam ham eggs toast jam " * 3_000,
    "x\n" * 5_000,
    "!?" * 5_000,
    " ".join(str(i * i % 97) for i in range(3_000)),
]


@pytest.mark.parametrize("text", TABLE, ids=[repr(text[:20]) for text in TABLE])
def test_every_signal_is_as_stated(text):
    assert_as_stated([text])


def test_a_batch_is_as_its_texts():
    alone = [measure_document_signals(pa.array([text])) for text in TABLE]
    assert measure_document_signals(pa.array(TABLE)).to_pylist() == [
        row for batch in alone for row in batch.to_pylist()
    ]


ODD = st.sampled_from("\n \t\r.…#-•a1_\u3000\x85\u0301\ufffd\ue000\ufdd0\x00。！。؟Ж漢한E😀")
KNOWN = st.characters(exclude_categories=("Cs", "Cn"))
"""Not the unassigned: a newer Unicode may have assigned them."""


@given(st.lists(st.text(ODD | KNOWN, max_size=60), max_size=5))
def test_any_text(texts):
    assert_as_stated(texts)


@given(st.text(st.sampled_from("ab \n"), max_size=120), st.integers(1, 3))
def test_any_repetitive_text(text, copies):
    assert_as_stated([text * copies])


@given(st.lists(st.sampled_from(["ab", "c", "the", ".", "\n", "\n\n", "漢字。", "e\u0301"])))
def test_any_words(words):
    assert_as_stated([" ".join(words), "".join(words)])


@pytest.mark.parametrize(
    "name",
    [
        "fortunes",
        "git-doc",
        "libreoffice-help-hi",
        "libreoffice-help-ja",
        "libreoffice-help-ko",
        "manpages-uk",
        "manpages-zh",
        "code",
    ],
)
def test_real_documents(real_data, name):
    path = real_data(f"corpus/{name}.jsonl.zst")
    texts = []
    with path.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file)
        for line in io.TextIOWrapper(reader, encoding="utf-8"):
            texts.append(json.loads(line)["text"][:20_000])
            if sum(map(len, texts)) > 60_000:
                break
    assert_as_stated(texts)


@settings(max_examples=30)
@given(st.permutations(TABLE[:30]))
def test_the_order_of_rows_does_not_matter(texts):
    expected = measure_document_signals(pa.array(TABLE[:30])).to_pylist()
    measured = measure_document_signals(pa.array(texts)).to_pylist()
    assert measured == [expected[TABLE.index(text)] for text in texts]


def test_nothing_is_nan_or_infinite_and_integers_are_never_null():
    batch = measure_document_signals(pa.array(TABLE))
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.type == pa.int64():
            assert column.null_count == 0, name
        else:
            assert column.type == pa.float64(), name
            assert all(v is None or math.isfinite(v) for v in column.to_pylist()), name


@pytest.mark.parametrize("texts", [[], [None], [None, "a b"]])
def test_no_rows_and_null_rows(texts):
    batch = measure_document_signals(pa.array(texts, pa.large_string()))
    assert batch.num_rows == len(texts)
    as_empty = measure_document_signals(pa.array([text or "" for text in texts], pa.string()))
    assert batch.equals(as_empty)
