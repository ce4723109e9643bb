import hashlib
import os
import struct
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import ShardError
from corpusclean.shards.gather import gather
from corpusclean.shards.megatron import (
    HEADER,
    MAGIC,
    MegatronShard,
    MegatronWriter,
    dtype_for,
    index_blocks,
    index_problem,
    parse_index,
)

GOLDEN_BIN = "01000200030004000500"
GOLDEN_IDX = (
    "4d4d49444944580000010000000000000008020000000000000003000000000000000300000002000000"
    "00000000000000000600000000000000000000000000000001000000000000000200000000000000"
)


def write(prefix, documents, dtype="uint16"):
    with MegatronWriter(prefix, dtype) as writer:
        for document in documents:
            writer.add_document(np.array(document, dtype))
    return writer.info


def test_golden_bytes(tmp_path):
    info = write(tmp_path / "s", [[1, 2, 3], [4, 5]])
    assert (tmp_path / "s.bin").read_bytes().hex() == GOLDEN_BIN
    assert (tmp_path / "s.idx").read_bytes().hex() == GOLDEN_IDX
    assert (info.documents, info.sequences, info.tokens, info.bytes, info.idx_bytes) == (
        (2, 2, 5, 10, 82)
    )
    assert info.sha256 == hashlib.sha256(bytes.fromhex(GOLDEN_BIN)).hexdigest()
    assert info.idx_sha256 == hashlib.sha256(bytes.fromhex(GOLDEN_IDX)).hexdigest()
    assert info.path == str(tmp_path / "s")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.bin", "s.idx"]


@pytest.mark.parametrize(
    ("vocabulary", "name"),
    [(2, "uint16"), (50257, "uint16"), (65499, "uint16"), (65500, "int32"), (100_277, "int32")],
)
def test_type_of_ids(vocabulary, name):
    assert dtype_for(vocabulary).name == name


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "uint16"])
@pytest.mark.parametrize("itself", [True, False])
def test_every_type_comes_back(tmp_path, dtype, itself):
    top = np.iinfo(dtype).max
    documents = [[0, top], [top], [5] * 100]
    with MegatronWriter(tmp_path / "s", dtype) as writer:
        flat = np.concatenate(documents).astype(dtype if itself else np.int64)
        writer.add_documents(flat, [2, 1, 100])
    shard = MegatronShard.open(tmp_path / "s")
    assert shard.dtype == dtype
    assert [shard[i].tolist() for i in range(len(shard))] == documents
    assert shard.document_indices.tolist() == [0, 1, 2, 3]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.integers(0, 65535), min_size=1, max_size=9), max_size=30), st.data())
def test_documents_one_by_one_or_many_at_once(tmp_path_factory, documents, data):
    folder = tmp_path_factory.mktemp("shards")
    write(folder / "one", documents)
    with MegatronWriter(folder / "many", "uint16") as writer:
        at = 0
        while at < len(documents):
            count = data.draw(st.integers(1, len(documents) - at))
            flat = np.array(list(chain(*documents[at : at + count])), np.uint32)
            writer.add_documents(flat, list(map(len, documents[at : at + count])))
            at += count
    for ending in ("bin", "idx"):
        assert (folder / f"one.{ending}").read_bytes() == (folder / f"many.{ending}").read_bytes()
    shard = MegatronShard.open(folder / "one")
    assert [shard[i].tolist() for i in range(len(shard))] == documents


@pytest.mark.parametrize(
    ("ids", "lengths", "message"),
    [
        ([1, 2], [2, 0], "0 to 2 tokens"),
        ([1, 2], [1], "for 2 ids"),
        ([1, 2], [3], "for 2 ids"),
        ([1, 2], [3, -1], "-1 to 3 tokens"),
        ([1, 2], [], "0 lengths"),
        ([1, 70_000], [2], "from 1 to 70000, expected uint16"),
        ([1, -1], [2], "from -1"),
        ([1.0, 2.0], [2], "float64"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(tmp_path, ids, lengths, message):
    with (
        pytest.raises(ShardError, match=message),
        MegatronWriter(tmp_path / "s", "uint16") as writer,
    ):
        writer.add_document([1])
        writer.add_documents(np.array(ids), lengths)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ShardError, match="not finished"):
        _ = writer.info


def test_an_empty_document_is_refused(tmp_path):
    with pytest.raises(ShardError), MegatronWriter(tmp_path / "s", "uint16") as writer:
        writer.add_document([])
        writer.add_document(np.zeros(0, np.uint16))
    with MegatronWriter(tmp_path / "s", "uint16") as writer:
        writer.add_documents(np.zeros(0, np.uint16), [])
    assert len(MegatronShard.open(tmp_path / "s")) == 0


def test_a_type_that_the_format_lacks():
    with pytest.raises(ShardError, match="uint32"):
        MegatronWriter("s", "uint32")


def test_offsets_past_two_gigabytes():
    lengths = np.array([2**30, 2**30, 5], np.int32)
    blocks = b"".join(index_blocks(lengths, 4))
    assert struct.unpack("<3i3q4q", blocks)[3:] == (0, 2**32, 2**33, 0, 1, 2, 3)


def test_offsets_across_blocks():
    lengths = np.full(200_000, 2**20, np.int32)
    index = parse_index(
        HEADER.pack(MAGIC, 1, 4, 200_000, 200_001) + b"".join(index_blocks(lengths, 4)), "x"
    )
    assert index.pointers[-1] == 199_999 * 2**22
    assert index_problem(index) is None


def test_a_sparse_shard_past_two_gigabytes(tmp_path):
    lengths = np.array([2**30, 2**30, 5], np.int32)
    header = HEADER.pack(MAGIC, 1, 8, 3, 4)
    (tmp_path / "s.idx").write_bytes(header + b"".join(index_blocks(lengths, 2)))
    with (tmp_path / "s.bin").open("wb") as file:
        file.truncate(2**32)
        file.seek(2**32)
        file.write(np.arange(5, dtype="<u2").tobytes())
    shard = MegatronShard.open(tmp_path / "s")
    assert shard[2].tolist() == [0, 1, 2, 3, 4]
    assert shard[1][-1] == 0


def change(at, value, size=8):
    return lambda data: data[:at] + value.to_bytes(size, "little", signed=True) + data[at + size :]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: b"", "found 0 bytes"),
        (lambda d: d[:33], "found 33 bytes"),
        (lambda d: d[:-1], "found 81 bytes, expected 82"),
        (lambda d: d + b"\0", "found 83 bytes"),
        (lambda d: b"X" + d[1:], "magic"),
        (change(9, 2), "version 2"),
        (change(17, 7, 1), "type code 7"),
        (change(18, 2**62), "sequences"),
        (change(34, 0, 4), "length of sequence 0"),
        (change(34, -3, 4), "length of sequence 0"),
        (change(34, 4, 4), "byte offset of sequence 1: expected 8, found 6"),
        (change(38, 3, 4), r"s.bin: found 10 bytes, expected 12"),
        (change(50, 4), "byte offset of sequence 1: expected 6, found 4"),
        (change(58, 1), "sequences of documents: expected 0 to 2, found 1 to 2"),
        (change(66, 0), "first sequence after document 0: expected above 0"),
        (change(74, 3), "expected 0 to 2, found 0 to 3"),
    ],
)
def test_a_damaged_index_is_named(tmp_path, damage, message):
    write(tmp_path / "s", [[1, 2, 3], [4, 5]])
    path = tmp_path / "s.idx"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ShardError, match=message) as caught:
        MegatronShard.open(tmp_path / "s")
    assert str(tmp_path / "s") in str(caught.value)


@pytest.mark.parametrize("name", ["s.bin", "s.idx"])
def test_a_missing_file_is_named(tmp_path, name):
    write(tmp_path / "s", [[1, 2, 3]])
    (tmp_path / name).unlink()
    with pytest.raises(ShardError, match=name):
        MegatronShard.open(tmp_path / "s")


def test_a_truncated_bin_is_named(tmp_path):
    write(tmp_path / "s", [[1, 2, 3]])
    os.truncate(tmp_path / "s.bin", 5)
    with pytest.raises(ShardError, match=r"s.bin: found 5 bytes, expected 6"):
        MegatronShard.open(tmp_path / "s")


@settings(deadline=None)
@given(st.lists(st.integers(1, 20), max_size=30), st.integers(1, 60), st.randoms())
def test_gathered_pieces_keep_their_order(lengths, block_tokens, random):
    parts = [np.arange(1000, dtype=np.uint16), np.arange(1000, 3000, dtype=np.uint16)]
    part = np.array([random.randrange(2) for _ in lengths], np.int64)
    start = np.array([random.randrange(900) for _ in lengths], np.int64)
    tokens = np.array(lengths, np.int64)
    blocks = list(gather(parts, part, start, tokens, block_tokens))
    expected = [parts[p][s : s + t] for p, s, t in zip(part, start, lengths, strict=True)]
    found = [ids for ids, _ in blocks]
    assert np.concatenate([[], *found]).tolist() == np.concatenate([[], *expected]).tolist()
    assert [int(n) for _, sizes in blocks for n in sizes] == lengths
    assert all(len(ids) <= max(block_tokens, 20) for ids in found)
    assert all(ids.dtype == np.uint16 for ids in found)


def test_writing_again_replaces_a_shard(tmp_path):
    write(tmp_path / "s", [[9] * 50])
    write(tmp_path / "s", [[1, 2, 3], [4, 5]])
    assert (tmp_path / "s.bin").read_bytes().hex() == GOLDEN_BIN
