import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusclean.errors import ShardError
from corpusclean.shards import provenance
from corpusclean.shards.provenance import SCHEMA, read_provenance, write_provenance

TOP = 2**64 - 1


def rows(count):
    rng = np.random.default_rng(count)
    uid = rng.integers(0, TOP, (count, 2), dtype=np.uint64, endpoint=True)
    return {
        "uid": uid,
        "source": rng.integers(0, 3, count),
        "sources": ["web", "コード", "unused", "last"],
        "copy": rng.integers(0, 4, count),
        "document_start": rng.integers(0, 2**40, count),
        "tokens": rng.integers(1, 5000, count),
    }


def test_columns_as_a_reader_sees_them(tmp_path):
    path = tmp_path / "p.parquet"
    info = write_provenance(
        path,
        3,
        uid=np.array([[1, 2], [TOP, 0x0102030405060708]], np.uint64),
        source=np.array([1, 0]),
        sources=["web", "code"],
        copy=np.array([0, 2]),
        document_start=np.array([0, 9]),
        tokens=np.array([5, 6]),
    )
    table = pq.read_table(path)
    assert table.schema.equals(SCHEMA)
    assert table.to_pylist() == [
        {
            "shard": 3,
            "sequence": 0,
            "start": 0,
            "uid": bytes(7) + b"\x01" + bytes(7) + b"\x02",
            "source": "code",
            "copy": 0,
            "document_start": 0,
            "tokens": 5,
        },
        {
            "shard": 3,
            "sequence": 1,
            "start": 0,
            "uid": b"\xff" * 8 + bytes(range(1, 9)),
            "source": "web",
            "copy": 2,
            "document_start": 9,
            "tokens": 6,
        },
    ]
    assert (info.rows, info.bytes) == (2, path.stat().st_size)


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2500])
def test_rows_come_back_in_groups(tmp_path, monkeypatch, count):
    monkeypatch.setattr(provenance, "_GROUP_ROWS", 1000)
    given = rows(count)
    write_provenance(tmp_path / "p", 0, **given)
    groups = list(read_provenance((tmp_path / "p").read_bytes(), "p"))
    assert sum(map(len, groups)) == count
    for name in ("uid", "copy", "document_start", "tokens"):
        found = [getattr(group, name) for group in groups if len(group)]
        assert np.array_equal(np.concatenate(found) if found else given[name], given[name])
    names = [group.sources[i] for group in groups for i in group.source]
    assert names == [given["sources"][i] for i in given["source"]]


def test_the_same_rows_give_the_same_bytes(tmp_path):
    first = write_provenance(tmp_path / "a", 0, **rows(5000))
    again = write_provenance(tmp_path / "b", 0, **rows(5000))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert first.sha256 == again.sha256


def test_packed_rows_name_sequence_and_start(tmp_path):
    given = rows(3) | {"sequence": np.array([0, 0, 1]), "start": np.array([0, 7, 0])}
    write_provenance(tmp_path / "p", 0, **given)
    (group,) = read_provenance((tmp_path / "p").read_bytes(), "p")
    assert group.sequence.tolist() == [0, 0, 1]
    assert group.start.tolist() == [0, 7, 0]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 20, bytes(1000)])
def test_what_is_no_parquet_is_named(content):
    with pytest.raises(ShardError, match="here: not a readable Parquet file"):
        list(read_provenance(content, "here"))


def test_other_columns_are_named(tmp_path):
    pq.write_table(pa.table({"uid": [b"x"]}), tmp_path / "p")
    with pytest.raises(ShardError, match=r"here: found columns \['uid'\], expected"):
        list(read_provenance((tmp_path / "p").read_bytes(), "here"))
