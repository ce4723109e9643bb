import io
import json

import pyarrow as pa
import pytest
import zstandard

from corpusclean.errors import ShardError
from corpusclean.shards.text import TextWriter, read_text

TEXTS = [
    "",
    "one\r\ntwo",
    "日本語 ไทย हिन्दी عربي",
    "e\u0301 \U0001f9d1\u200d\U0001f680",
    "\x00\u2028",
    "x" * 3_000_000,
]
ROWS = [
    {"id": None, "uid": f"{i:032x}", "source": "web", "url": None, "text": text}
    for i, text in enumerate(TEXTS)
]
ROWS[1] |= {"id": "a", "url": "https://example.org/ä"}


def write(prefix, rows):
    with TextWriter(prefix) as writer:
        writer.add_documents(rows)
    return writer.info


def test_documents_come_back(tmp_path):
    info = write(tmp_path / "s", ROWS)
    assert list(read_text(tmp_path / "s")) == ROWS
    assert info.documents == len(ROWS)
    assert info.text_bytes == sum(len(text.encode()) for text in TEXTS)
    assert [p.name for p in tmp_path.iterdir()] == ["s.jsonl.zst"]
    assert info.bytes == (tmp_path / "s.jsonl.zst").stat().st_size


def test_lines_are_plain_json(tmp_path):
    write(tmp_path / "s", ROWS[1:2])
    packed = (tmp_path / "s.jsonl.zst").read_bytes()
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)) as stream:
        content = stream.read()
    assert content == (
        b'{"id":"a","uid":"00000000000000000000000000000001","source":"web",'
        + '"url":"https://example.org/ä","text":"one\\r\\ntwo"}\n'.encode()
    )


def test_batches_and_mappings_give_the_same_bytes(tmp_path):
    columns = {name: [row[name] for row in ROWS] for name in ("id", "source", "url", "text")}
    uid = pa.array([bytes.fromhex(row["uid"]) for row in ROWS], pa.binary(16))
    table = pa.table(columns | {"uid": uid, "metadata": ["{}"] * len(ROWS)})
    with TextWriter(tmp_path / "t") as writer:
        for batch in table.to_batches(max_chunksize=2):
            writer.add_batch(batch)
    info = write(tmp_path / "s", ROWS)
    assert writer.info.sha256 == info.sha256
    with TextWriter(tmp_path / "u") as writer:
        writer.add_batch(table)
    assert writer.info.sha256 == info.sha256


def test_missing_columns_are_null(tmp_path):
    with TextWriter(tmp_path / "s") as writer:
        writer.add_documents([{"id": 5, "uid": bytes(16), "source": "a", "text": "b"}])
    (row,) = read_text(tmp_path / "s")
    assert row == {"id": "5", "uid": "0" * 32, "source": "a", "url": None, "text": "b"}


@pytest.mark.parametrize("field", ["uid", "source", "text"])
def test_what_a_document_must_have(tmp_path, field):
    with pytest.raises(ShardError, match=f"document 6 has no {field}"):
        write(tmp_path / "s", [*ROWS, ROWS[0] | {field: None}])
    assert list(tmp_path.iterdir()) == []


def test_no_document(tmp_path):
    assert write(tmp_path / "s", []).documents == 0
    assert list(read_text(tmp_path / "s")) == []


def test_an_unfinished_file(tmp_path):
    with pytest.raises(ShardError, match="not finished"):
        _ = TextWriter(tmp_path / "s").info


@pytest.mark.parametrize(
    "content",
    [
        b"plain",
        zstandard.compress(b"{}\n{"),
        zstandard.compress(b'{"a"\n'),
        zstandard.compress(json.dumps(ROWS[:5]).encode() * 1000 + b"\n")[:-9],
    ],
)
def test_damage_is_named(tmp_path, content):
    (tmp_path / "s.jsonl.zst").write_bytes(content)
    with pytest.raises(ShardError, match=r"s\.jsonl\.zst"):
        list(read_text(tmp_path / "s"))
