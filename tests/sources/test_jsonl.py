"""Files of JSON lines: lines, ranges, blocks and the account of all of them."""

import gzip
import json
import re
import tracemalloc

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.sources import ColumnSpec, plan_splits, read_split

GOOD = b'{"text":"first"}\n', '{"text":"zweite 語"}\n'.encode()

BAD = {
    "invalid_utf8": b'{"text":"a\xffb"}',
    "lone_surrogate": b'{"text":"\\ud800"}',
    "invalid_json": b'{"text":"cut',
    "not_an_object": b"null",
    "missing_text": b'{"body":"a"}',
    "wrong_type": b'{"text":["a"]}',
}


@pytest.mark.parametrize("cause", BAD)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_bad_line_alone(read_bytes, cause, end):
    found = read_bytes("a.jsonl", BAD[cause] + end)
    assert found.documents == [] and found.blank == 0
    [record] = found.quarantined
    assert (record.position, record.cause) == (1, cause)
    assert record.raw.strip() == BAD[cause] and record.length == len(record.raw)


@pytest.mark.parametrize("cause", BAD)
@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("batch_bytes", [1, 20, 1 << 20])
def test_a_bad_line_among_good_ones(read_bytes, cause, packing, batch_bytes):
    data = GOOD[0] + BAD[cause] + b"\n\n" + GOOD[1] + BAD[cause]
    packed = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[packing](data)
    found = read_bytes(f"a.jsonl{packing}", packed, batch_bytes=batch_bytes)
    assert found.texts == ["first", "zweite 語"]
    assert [d["position"] for d in found.documents] == [1, 4]
    assert [(r.position, r.cause) for r in found.quarantined] == [(2, cause), (5, cause)]
    assert found.blank == 1


@pytest.mark.parametrize(
    ("data", "texts", "blank"),
    [
        (b"", [], 0),
        (b"\n", [], 1),
        (b" \t\r\n\n  ", [], 3),
        (b"\xef\xbb\xbf", [], 0),
        (b"\xef\xbb\xbf\n", [], 1),
        (b'\xef\xbb\xbf{"text":"a"}\n', ["a"], 0),
        (b'{"text":"a"}', ["a"], 0),
        (b'{"text":"a"}\r\n{"text":"b"}\r\n', ["a", "b"], 0),
        (b'\n\n{"text":"a"}\n\n', ["a"], 3),
        (b'{"text":"a"}\n\xef\xbb\xbf{"text":"b"}\n', ["a", "b"], 0),
    ],
)
@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_lines(read_bytes, data, texts, blank, batch_bytes):
    found = read_bytes("a.jsonl", data, batch_bytes=batch_bytes)
    assert (found.texts, found.blank, found.quarantined) == (texts, blank, [])


def test_columns(read_bytes):
    columns = ColumnSpec("body", "n", "link", ("lang",))
    lines = b'{"n":17,"body":"a","link":"u","lang":"en"}\n{"body":"b"}\n'
    found = read_bytes("a.ndjson", lines, columns)
    assert found.documents == [
        {"position": 1, "id": "17", "url": "u", "metadata": '{"lang":"en"}', "text": "a"},
        {"position": 2, "id": "", "url": None, "metadata": '{"lang":null}', "text": "b"},
    ]


@pytest.mark.parametrize("batch_bytes", [1, 7, 64, 1 << 20])
def test_lines_over_the_limit_are_put_aside_and_not_held(read_bytes, batch_bytes):
    long = b'{"text":"' + b"x" * 5000 + b'"}'
    data = long + b"\n" + GOOD[0] + long + b"\r\n" + GOOD[1] + long
    found = read_bytes("a.jsonl", data, batch_bytes=batch_bytes, max_record_bytes=2000)
    assert found.texts == ["first", "zweite 語"]
    assert [(r.position, r.cause) for r in found.quarantined] == [
        (1, "too_large"),
        (3, "too_large"),
        (5, "too_large"),
    ]
    for record, length in zip(
        found.quarantined, [len(long), len(long) + 1, len(long)], strict=True
    ):
        assert record.length == length
        assert long.startswith(record.raw.strip()) and 2000 <= len(record.raw) <= 4096


def test_a_line_at_the_limit_is_read(read_bytes):
    line = b'{"text":"abc"}'
    for batch_bytes in (1, 1 << 20):
        options = {"batch_bytes": batch_bytes, "max_record_bytes": len(line)}
        assert read_bytes("a.jsonl", line + b"\n" + line, **options).texts == ["abc", "abc"]


def test_what_is_kept_of_a_bad_record_is_cut(read_bytes):
    [record] = read_bytes("a.jsonl", b"x" * 10_000).quarantined
    assert record.raw == b"x" * 4096 and record.length == 10_000


def test_a_line_of_60_mb(read_file, tmp_path):
    """One line longer than any block, in a file cut far finer than that line."""
    path = tmp_path / "long.jsonl"
    text = "語 word " * 7_000_000
    path.write_bytes(GOOD[0] + json.dumps({"text": text}).encode() + b"\n" + GOOD[1])
    assert path.stat().st_size > 80 << 20
    del text
    tracemalloc.start()
    splits = plan_splits("s", ["long.jsonl"], tmp_path, 30 << 20)
    lengths = []
    for split in splits:
        for decoded in read_split(split):
            lengths += [len(text) for text in decoded.batch.column("text").to_pylist()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lengths == [5, 49_000_000, 8]
    assert peak < 600 << 20


LINES = st.lists(
    st.sampled_from(
        [b'{"text":"a"}', '{"text":"é語","id":"é"}'.encode(), b"", b"  ", *BAD.values()]
    ),
    max_size=12,
)


@given(
    LINES, st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.integers(1, 80), st.integers(1, 90)
)
@settings(deadline=None)
def test_splits_and_blocks_do_not_change_what_is_read(read_bytes, lines, end, last, target, block):
    data = end.join(lines) + (end if last else b"")
    whole = read_bytes("a.jsonl", data)
    assert read_bytes("a.jsonl", data, target=target, batch_bytes=block) == whole
    assert whole.lines == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


@given(st.binary(max_size=200) | st.text('{}":,\\n\n text', max_size=80).map(str.encode))
@settings(deadline=None)
def test_any_bytes_are_accounted_for(read_bytes, data):
    found = read_bytes("a.jsonl", data, target=16, batch_bytes=8)
    body = data.removeprefix(b"\xef\xbb\xbf")
    lines = re.split(rb"\n", body)
    if not lines[-1]:
        lines.pop()
    assert found.blank == sum(not line.strip() for line in lines)
    assert found.lines == len(lines)
    where = [d["position"] for d in found.documents] + [r.position for r in found.quarantined]
    assert sorted(where) == [i for i, line in enumerate(lines, 1) if line.strip()]
