import gzip
import json
import struct
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import ShardError
from corpusclean.shards import columnar, mds, olmo
from corpusclean.shards.formats import FORMATS, format_named
from corpusclean.shards.grouping import Grouping
from corpusclean.shards.info import ShardFile, ShardInfo
from corpusclean.shards.reading import Damaged

TYPES = [
    *(("megatron", dtype) for dtype in ("uint16", "int32")),
    *(("mds", dtype) for dtype in ("uint16", "int32")),
    *(("nanotron", dtype) for dtype in ("uint16", "uint32")),
    *(("olmo", dtype) for dtype in ("uint8", "uint16", "uint32")),
    ("parquet", "int32"),
    ("arrow", "int32"),
]
TWO = [[1, 2, 3], [4, 5]]


def write(prefix, kind, documents, dtype="uint16", **options):
    with FORMATS[kind].writer(prefix, dtype, **options) as writer:
        for document in documents:
            writer.add_document(np.array(document, dtype))
    return writer.info


def opened(info, kind, dtype):
    return FORMATS[kind].open(info.path, dtype, [file.suffix for file in info.files])


def read(info, kind, dtype):
    reader = opened(info, kind, dtype)
    found = [sequence.tolist() for sequence in reader.sequences()]
    assert reader.lengths.tolist() == [len(sequence) for sequence in found]
    assert sum(len(ids) for _, ids in reader.blocks()) == sum(map(len, found))
    return found


def bytes_of(info):
    names = [info.path + file.suffix for file in info.files]
    content = {}
    for name, file in zip(names, info.files, strict=True):
        with open(name, "rb") as opened_file:  # noqa: PTH123
            content[file.suffix] = opened_file.read()
        assert len(content[file.suffix]) == file.bytes
    return content


def test_golden_bytes_of_mds(tmp_path):
    info = write(tmp_path / "s", "mds", TWO)
    config = (
        b'{"column_encodings": ["ndarray:uint16"], "column_names": ["tokens"], '
        b'"column_sizes": [null], "compression": null, "format": "mds", "hashes": ["sha256"], '
        b'"size_limit": 67108864, "version": 2}'
    )
    begin = 16 + len(config)
    samples = bytes.fromhex("08000000040301000200030006000000040204000500")
    expected = struct.pack("<4I", 2, begin, begin + 12, begin + 22) + config + samples
    assert bytes_of(info) == {".00000.mds": expected}
    index = json.loads(mds.index_text("uint16", [("s", info.files), ("t", info.files)]))
    assert index["version"] == 2
    assert index["shards"][0] == json.loads(config) | {
        "raw_data": {
            "basename": "s.00000.mds",
            "bytes": len(expected),
            "hashes": {"sha256": info.sha256},
        },
        "samples": 2,
        "zip_data": None,
    }
    assert index["shards"][1]["raw_data"]["basename"] == "t.00000.mds"


def test_golden_bytes_of_nanotron(tmp_path):
    info = write(tmp_path / "s", "nanotron", TWO, tokenizer="gpt2")
    assert bytes_of(info) == {
        ".ds": bytes.fromhex("01000200030004000500"),
        ".ds.index": bytes.fromhex("03000000000000000500000000000000"),
        ".ds.metadata": b"gpt2|2\n5\n5.00 T",
    }
    info = write(tmp_path / "w", "nanotron", [[70_000]], "uint32")
    assert bytes_of(info) == {
        ".ds": bytes.fromhex("70110100"),
        ".ds.index": bytes.fromhex("0100000000000000"),
        ".ds.metadata": b"Unknown Tokenizer|4\n1\n1.00 T",
    }


def test_golden_bytes_of_olmo(tmp_path):
    content = bytes_of(write(tmp_path / "s", "olmo", TWO))
    assert content[".npy"].hex() == "01000200030004000500"
    assert content[".csv.gz"][:10].hex() == "1f8b08000000000000ff"
    assert gzip.decompress(content[".csv.gz"]) == b"0,3,s/0,s,0\n3,5,s/1,s,1\n"


@pytest.mark.parametrize(("kind", "dtype"), TYPES)
def test_edges_come_back(tmp_path, kind, dtype):
    top = np.iinfo(dtype).max
    documents = [[0], [top], [1] * 255, [2] * 256, [3] * 65_535, [4] * 65_536, [top, 0]]
    info = write(tmp_path / "s", kind, documents, dtype)
    assert read(info, kind, dtype) == documents
    assert (info.documents, info.sequences, info.tokens) == (7, 7, sum(map(len, documents)))
    assert FORMATS[kind].fits([file.suffix for file in info.files])
    names = sorted(info.path + file.suffix for file in info.files)
    assert sorted(str(path) for path in tmp_path.iterdir()) == names


@pytest.mark.parametrize(("kind", "dtype"), TYPES)
def test_no_document(tmp_path, kind, dtype):
    info = write(tmp_path / "s", kind, [], dtype)
    assert read(info, kind, dtype) == []
    assert (info.documents, info.tokens) == (0, 0)


@pytest.mark.parametrize(("kind", "dtype"), TYPES)
@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.lists(st.integers(0, 255), min_size=1, max_size=300), max_size=30),
    st.data(),
)
def test_the_same_bytes_however_documents_arrive(tmp_path_factory, kind, dtype, documents, data):
    folder = tmp_path_factory.mktemp("shards")
    options = {"size_limit": 1000} if kind == "mds" else {}
    one = write(folder / "one", kind, documents, dtype, **options)
    (folder / "other").mkdir()
    with FORMATS[kind].writer(folder / "other" / "one", dtype, **options) as writer:
        at = 0
        while at < len(documents):
            count = data.draw(st.integers(1, len(documents) - at))
            flat = np.array(list(chain(*documents[at : at + count])), np.int64)
            writer.add_documents(flat, list(map(len, documents[at : at + count])))
            flat[:] = -1
            at += count
    assert bytes_of(writer.info) == bytes_of(one)
    assert writer.info.files == one.files
    assert read(one, kind, dtype) == documents
    assert ShardInfo("p", 1, 1, 1, json.loads(json.dumps([[*vars(f).values()] for f in one.files])))


@pytest.mark.parametrize(("kind", "dtype"), TYPES)
@pytest.mark.parametrize(
    ("ids", "lengths"), [([1, 2], [2, 0]), ([1, 2], [1]), ([1, 2**33], [2]), ([1.0], [1])]
)
def test_what_cannot_be_written_leaves_no_file(tmp_path, kind, dtype, ids, lengths):
    options = {"size_limit": 300} if kind == "mds" else {}
    with (
        pytest.raises(ShardError, match="found"),
        FORMATS[kind].writer(tmp_path / "s", dtype, **options) as writer,
    ):
        for _ in range(20):
            writer.add_document([1] * 30)
        writer.add_documents(np.array(ids), lengths)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ShardError, match="not finished"):
        _ = writer.info


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("mds", "uint32"), ("nanotron", "int32"), ("olmo", "int64"), ("parquet", "uint16")],
)
def test_types_that_a_format_lacks(tmp_path, kind, dtype):
    with pytest.raises(ShardError, match="the format knows"):
        FORMATS[kind].writer(tmp_path / "s", dtype)


@pytest.mark.parametrize(
    ("kind", "vocabulary", "name"),
    [
        ("megatron", 65_499, "uint16"),
        ("megatron", 65_500, "int32"),
        ("mds", 65_500, "int32"),
        ("nanotron", 100, "uint16"),
        ("nanotron", 65_536, "uint16"),
        ("nanotron", 65_537, "uint32"),
        ("olmo", 256, "uint8"),
        ("olmo", 257, "uint16"),
        ("olmo", 65_536, "uint16"),
        ("olmo", 65_537, "uint32"),
        ("parquet", 100, "int32"),
        ("arrow", 200_000, "int32"),
    ],
)
def test_types_of_ids(kind, vocabulary, name):
    dtype = FORMATS[kind].dtype_for(vocabulary)
    assert dtype.name == name
    assert name in FORMATS[kind].writer.types


def test_a_vocabulary_that_no_type_holds():
    for kind in ("nanotron", "olmo", "parquet"):
        with pytest.raises(ShardError, match="vocabulary"):
            FORMATS[kind].dtype_for(2**32 + 1)


def test_an_unknown_format():
    with pytest.raises(ShardError, match="megatron, mds, nanotron, olmo, parquet, arrow"):
        format_named("tfrecord")


def test_files_that_a_shard_can_have():
    assert FORMATS["mds"].fits([".00000.mds", ".00001.mds"])
    assert not FORMATS["mds"].fits([".00001.mds"])
    assert not FORMATS["megatron"].fits([".bin"])
    assert FORMATS["nanotron"].fits([".ds", ".ds.index", ".ds.metadata"])


@settings(deadline=None)
@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 120), st.data())
def test_groups_are_as_full_as_they_can_be(sizes, limit, data):
    grouping, groups, at = Grouping(limit), [], 0
    ids = np.arange(sum(sizes))
    ends = np.cumsum([0, *sizes])
    while at < len(sizes):
        stop = data.draw(st.integers(at + 1, len(sizes)))
        part = np.array(sizes[at:stop], np.int64)
        groups += grouping.add(ids[ends[at] : ends[stop]], part, part + 1)
        at = stop
    groups.append(grouping.rest())
    assert np.concatenate([g[0] for g in groups]).tolist() == ids.tolist()
    assert np.concatenate([g[1] for g in groups]).tolist() == sizes
    costs = [int((lengths + 1).sum()) for _, lengths in groups]
    for i, (_, lengths) in enumerate(groups):
        assert len(lengths) == 1 or costs[i] <= limit
        if i + 1 < len(groups) and len(groups[i + 1][1]):
            assert costs[i] + groups[i + 1][1][0] + 1 > limit
    assert not sizes or all(len(lengths) for _, lengths in groups)


def test_mds_divides_a_shard_among_files(tmp_path):
    documents = [[i] * 50 for i in range(100)] + [[7] * 5000] + [[8]]
    info = write(tmp_path / "s", "mds", documents, size_limit=2000)
    sizes = [file.bytes for file in info.files]
    assert max(size for size in sizes if size < 10_000) <= 2000
    assert sum(size > 10_000 for size in sizes) == 1
    assert sum(file.sequences for file in info.files) == 102
    assert info.files[3].suffix == ".00003.mds"
    assert read(info, "mds", "uint16") == documents


def test_mds_refuses_a_file_of_four_gigabytes(tmp_path):
    writer = FORMATS["mds"].writer(tmp_path / "s", "int32")
    with pytest.raises(ShardError, match="MDS allows"):
        writer._write(np.empty(0, np.int32), np.array([2**30]))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_groups_of_rows(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(columnar, "GROUP_TOKENS", 1000)
    documents = [[i] * 300 for i in range(9)] + [[1] * 5000] + [[2]]
    info = write(tmp_path / "s", kind, documents, "int32")
    assert read(info, kind, "int32") == documents
    sizes = [len(ids) for _, ids in opened(info, kind, "int32").blocks()]
    assert sizes == [600] * 4 + [300, 5000, 1]


def test_a_sparse_nanotron_shard_past_four_gigabytes(tmp_path):
    ends = np.array([2**31 + 5, 2**31 + 9], "<u8")
    (tmp_path / "s.ds.index").write_bytes(ends.tobytes())
    (tmp_path / "s.ds.metadata").write_text(f"t|2\n{ends[-1]}\n2.15 GT")
    with (tmp_path / "s.ds").open("wb") as file:
        file.truncate(int(ends[-1]) * 2)
    reader = FORMATS["nanotron"].open(tmp_path / "s", "uint16")
    assert reader.lengths.tolist() == [2**31 + 5, 4]
    assert sum(len(ids) for _, ids in reader.blocks()) == 2**31 + 9


def put(at, value, size=4):
    return lambda d: d[:at] + value.to_bytes(size, "little") + d[at + size :]


def repacked(text):
    return lambda d: gzip.compress(text)


@pytest.mark.parametrize(
    ("kind", "suffix", "damage", "message"),
    [
        ("mds", ".00000.mds", lambda d: b"", "size in bytes"),
        ("mds", ".00000.mds", lambda d: d[:-1], "offsets of samples"),
        ("mds", ".00000.mds", lambda d: d + b"x", "offsets of samples"),
        ("mds", ".00000.mds", put(0, 3), "columns and settings"),
        ("mds", ".00000.mds", put(0, 2**32 - 1), "size in bytes"),
        ("mds", ".00000.mds", put(4, 9), "offsets of samples"),
        ("mds", ".00000.mds", put(8, 2**32 - 1), "offsets of samples"),
        ("mds", ".00000.mds", put(-22 + 4, 8, 1), "shapes of samples"),
        ("mds", ".00000.mds", put(-22 + 5, 4, 1), "size of sample 0"),
        ("mds", ".00000.mds", put(-22, 9), "size of sample 0"),
        ("nanotron", ".ds.index", lambda d: d[:-1], "size in bytes"),
        ("nanotron", ".ds.index", put(8, 3, 8), "tokens of document 1"),
        ("nanotron", ".ds.index", put(8, 2**64 - 1, 8), "tokens of document 1"),
        ("nanotron", ".ds.index", put(8, 6, 8), "tokens: expected 6"),
        ("nanotron", ".ds", lambda d: d[:-1], "size in bytes: expected 10, found 9"),
        ("nanotron", ".ds", lambda d: d + b"xx", "size in bytes: expected 10"),
        ("nanotron", ".ds.metadata", lambda d: b"", "tokens: expected 5"),
        ("nanotron", ".ds.metadata", lambda d: b"t|4\n5\n5 T", "found 5, ids of 4 bytes"),
        ("olmo", ".npy", lambda d: d[:-2], "size in bytes: expected 10, found 8"),
        ("olmo", ".npy", lambda d: d + b"x", "size in bytes"),
        ("olmo", ".csv.gz", lambda d: d[:-5], "not readable"),
        ("olmo", ".csv.gz", lambda d: b"0,3\n", "not readable"),
        ("olmo", ".csv.gz", repacked(b"a,b\n"), "not readable"),
        ("olmo", ".csv.gz", repacked(b"0\n"), "not readable"),
        ("olmo", ".csv.gz", repacked(b"0,3\n3,3\n"), "tokens of document 1"),
        ("olmo", ".csv.gz", repacked(b"0,3\n4,6\n"), "start of document 1: expected 3, found 4"),
        ("olmo", ".csv.gz", repacked(b"1,3\n"), "start of document 0: expected 0, found 1"),
        ("parquet", ".parquet", lambda d: d[:-1], "not readable"),
        ("parquet", ".parquet", lambda d: b"", "not readable"),
        ("arrow", ".arrow", lambda d: d[:40], "not readable"),
        ("arrow", ".arrow", lambda d: b"", "not readable"),
        ("megatron", ".idx", put(34, 0), "length of sequence 0"),
        ("megatron", ".idx", put(17, 4, 1), "type of ids: expected uint16, found int32"),
        ("megatron", ".bin", lambda d: d[:-2], "size in bytes: expected 10, found 8"),
        ("megatron", ".bin", lambda d: d[:-1], "size in bytes: expected 10"),
    ],
)
def test_damage_is_named(tmp_path, kind, suffix, damage, message):
    dtype = "int32" if kind in ("parquet", "arrow") else "uint16"
    info = write(tmp_path / "s", kind, TWO, dtype)
    path = tmp_path / f"s{suffix}"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(Damaged, match=message) as caught:
        read(info, kind, dtype)
    assert caught.value.suffix.startswith("." + suffix.split(".")[1])


def test_other_columns_are_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"input_ids": [[1, 2]]})
    pq.write_table(table, tmp_path / "s.parquet")
    with pytest.raises(Damaged, match="list<int32>"):
        _ = FORMATS["parquet"].open(tmp_path / "s", "int32").lengths
    nulls = pa.table([pa.array([[1, None]], pa.list_(pa.int32()))], schema=columnar.SCHEMA)
    pq.write_table(nulls, tmp_path / "s.parquet")
    with pytest.raises(Damaged, match="nulls"):
        _ = FORMATS["parquet"].open(tmp_path / "s", "int32").lengths


def test_many_lines_of_metadata(tmp_path, monkeypatch):
    monkeypatch.setattr(olmo, "_LINES", 7)
    with FORMATS["olmo"].writer(tmp_path / "s", "uint8") as writer:
        for _ in range(3):
            writer.add_documents(np.ones(40, np.uint8), [2] * 20)
    lines = gzip.decompress((tmp_path / "s.csv.gz").read_bytes()).decode().splitlines()
    assert lines == [f"{2 * i},{2 * i + 2},s/{i},s,{i}" for i in range(60)]


def test_files_of_info():
    info = ShardInfo(
        "out/shards/a", 1, 1, 3, (ShardFile(".bin", 6, "x"), ShardFile(".idx", 9, "y"))
    )
    assert (info.name, info.bytes, info.sha256, info.idx_bytes, info.idx_sha256) == (
        ("a", 6, "x", 9, "y")
    )
    with pytest.raises(KeyError):
        info.file(".ds")
