"""Text files: one document each."""

import gzip

import pytest
import zstandard

from corpusclean.errors import InputError
from corpusclean.sources import ColumnSpec, check_columns, plan_splits


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"one\r\ntwo\n\nthree", "one\r\ntwo\n\nthree"),
        (b" \n", " \n"),
        (b"\xef\xbb\xbfa", "a"),
        ("नमस्ते 🙂\0".encode(), "नमस्ते 🙂\0"),
    ],
)
def test_a_file_is_a_document(read_bytes, data, text):
    for name, packed in [
        ("x.txt", data),
        ("x.txt.gz", gzip.compress(data)),
        ("x.txt.zst", zstandard.compress(data)),
    ]:
        found = read_bytes(name, packed, target=1)
        assert found.documents == [
            {"position": 1, "id": "x.txt", "url": None, "metadata": None, "text": text}
        ]
        assert found.lines == 1


def test_no_bytes_are_no_document(read_bytes):
    assert read_bytes("x.txt", b"").lines == 0
    assert read_bytes("x.txt.gz", gzip.compress(b"")).lines == 0


@pytest.mark.parametrize(
    ("name", "data", "cause", "raw", "length"),
    [
        ("x.txt", b"caf\xe9", "invalid_utf8", b"caf\xe9", 4),
        ("x.txt", b"a" * 101, "too_large", b"", 101),
        ("x.txt.gz", gzip.compress(b"a" * 101), "too_large", b"", 101),
        ("x.txt.gz", gzip.compress(b"abc")[:-3], "truncated", b"abc", 3),
        ("x.txt.gz", b"abc", "unreadable", b"", 0),
    ],
)
def test_what_cannot_be_read(read_bytes, name, data, cause, raw, length):
    found = read_bytes(name, data, max_record_bytes=100)
    assert found.documents == []
    [record] = found.quarantined
    assert (record.position, record.cause, record.raw, record.length) == (1, cause, raw, length)


def test_a_text_file_has_no_columns(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"a")
    [split] = plan_splits("books", ["x.txt"], tmp_path)
    check_columns(split, ColumnSpec())
    with pytest.raises(InputError, match="'url'"):
        check_columns(split, ColumnSpec(url="url"))
