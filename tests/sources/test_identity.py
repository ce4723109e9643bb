"""Who a document is, and the newlines of its text."""

import struct

import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.sources import normalise_newlines, uids


def judge(source: str, record_id: str, text: str) -> bytes:
    parts = [value.encode() for value in (source, record_id, text)]
    data = b"".join(struct.pack("<Q", len(part)) + part for part in parts)
    return xxhash.xxh3_128_digest(data)


def test_known_value():
    [uid] = uids("web", pa.array(["17"]), pa.array(["text"], pa.large_string())).to_pylist()
    data = b"\3\0\0\0\0\0\0\0web\2\0\0\0\0\0\0\x0017\4\0\0\0\0\0\0\0text"
    assert uid == xxhash.xxh3_128_digest(data)
    assert int.from_bytes(uid, "big") == xxhash.xxh3_128_intdigest(data)


@given(st.text(), st.lists(st.tuples(st.text(), st.text())), st.integers(0, 3))
def test_uids_are_those_of_the_parts(source, rows, skip):
    ids = pa.array([row[0] for row in rows], pa.string())
    texts = pa.array([row[1] for row in rows], pa.large_string())
    found = uids(source, ids.slice(skip), texts.slice(skip))
    assert found.type == pa.binary(16)
    assert found.to_pylist() == [judge(source, *row) for row in rows[skip:]]


def test_the_border_between_id_and_text_counts():
    texts = pa.array(["bc", "c", ""], pa.large_string())
    assert len(set(uids("a", pa.array(["a", "ab", "abc"]), texts).to_pylist())) == 3


def test_no_id_is_an_empty_id():
    texts = pa.array(["x", "x"], pa.large_string())
    first, second = uids("a", pa.array([None, ""]), texts).to_pylist()
    assert first == second


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a\nb", "a\nb"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\rb\r", "a\nb\n"),
        ("\r\r\n\n\r", "\n\n\n\n"),
        ("a\u2028b\u0085c\x0b\x0c", "a\u2028b\u0085c\x0b\x0c"),
        ("語\r\n🙂", "語\n🙂"),
    ],
)
def test_newlines(text, expected):
    texts = pa.array(["kept", text, None, text], pa.large_string())
    assert normalise_newlines(texts).to_pylist() == ["kept", expected, None, expected]
    assert normalise_newlines(texts.slice(1, 1)).to_pylist() == [expected]


@given(st.lists(st.text("a\r\n語"), max_size=4))
def test_newlines_as_python_translates_them(texts):
    found = normalise_newlines(pa.array(texts, pa.large_string()))
    assert found.type == pa.large_string()
    expected = [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]
    assert found.to_pylist() == expected
    assert normalise_newlines(found).equals(found)


def test_texts_without_a_carriage_return_are_not_copied():
    texts = pa.array(["a\n", "b"], pa.large_string())
    assert normalise_newlines(texts).buffers()[2].address == texts.buffers()[2].address
