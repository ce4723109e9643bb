"""Which files are found, of which format they are, and how they are cut."""

import itertools
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.errors import InputError
from corpusclean.sources import plan_splits, read_split
from corpusclean.sources.formats import format_of


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.jsonl", ("jsonl", None)),
        ("a.JSONL", ("jsonl", None)),
        ("a.json", ("jsonl", None)),
        ("a.ndjson", ("jsonl", None)),
        ("a.jsonl.gz", ("jsonl", "gzip")),
        ("a.json.zst", ("jsonl", "zstd")),
        ("a.b.ndjson.zstd", ("jsonl", "zstd")),
        ("x/a.parquet", ("parquet", None)),
        ("gs://bucket/a.txt", ("text", None)),
        ("a.txt.gz", ("text", "gzip")),
    ],
)
def test_formats(path, expected):
    assert format_of(path) == expected


@pytest.mark.parametrize(
    "path", ["a", "README.md", "a.gz", "a.csv", "a.jsonl.bz2", "a.parquet.gz", "a.jsonl/x", ".zst"]
)
def test_unknown_formats_name_the_file_and_the_known_ones(path):
    with pytest.raises(InputError, match="jsonl") as error:
        format_of(path)
    assert path in str(error.value) and ".parquet" in str(error.value)


def test_a_pattern_without_a_file_says_what_is_there(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"")
    with pytest.raises(InputError, match=r"a\.jsonl"):
        plan_splits("s", ["*.parquet"], tmp_path)


def test_a_file_that_two_patterns_match_counts_once(tmp_path):
    for name in ("b.jsonl", "a.jsonl"):
        (tmp_path / name).write_bytes(b'{"text":"x"}\n')
    splits = plan_splits("s", ["*.jsonl", "b.jsonl", "./b.jsonl", str(tmp_path / "a*")], tmp_path)
    assert [s.path for s in splits] == [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
    assert splits == plan_splits("s", ["b.jsonl", "a.jsonl"], tmp_path)


def test_the_key_tells_apart_source_file_and_range_but_not_version(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x\n" * 50)
    splits = plan_splits("web/en 1", ["a.jsonl"], tmp_path, 30)
    keys = {split.key for split in splits}
    assert len(keys) == len(splits) == 4
    assert all(key.startswith("web_en_1-") and key.isascii() and "/" not in key for key in keys)
    assert keys == {split.key for split in plan_splits("web/en 1", ["a.jsonl"], tmp_path, 30)}
    os.utime(path, ns=(1, 1))
    assert keys == {split.key for split in plan_splits("web/en 1", ["a.jsonl"], tmp_path, 30)}
    assert not keys & {split.key for split in plan_splits("web_en_1", ["a.jsonl"], tmp_path, 30)}


@given(st.integers(1, 300), st.integers(1, 400))
def test_byte_ranges_cover_a_file_evenly(tmp_path_factory, size, target):
    folder = tmp_path_factory.mktemp("ranges")
    (folder / "a.jsonl").write_bytes(b"x" * size)
    splits = plan_splits("s", ["a.jsonl"], folder, target)
    assert splits[0].start == 0 and splits[-1].stop == size
    assert all(a.stop == b.start for a, b in itertools.pairwise(splits))
    assert all(0 < s.weight == s.stop - s.start <= target for s in splits)


def test_packed_files_and_texts_are_not_cut(tmp_path):
    for name in ("a.jsonl.gz", "b.txt"):
        (tmp_path / name).write_bytes(b"x" * 100)
    assert [(s.start, s.stop) for s in plan_splits("s", ["*"], tmp_path, 10)] == [(0, 100)] * 2


def test_empty_files_have_an_empty_split(tmp_path):
    for name in ("a.jsonl", "b.jsonl.zst", "c.parquet", "d.txt"):
        (tmp_path / name).write_bytes(b"")
    splits = plan_splits("s", ["*"], tmp_path)
    assert [(s.start, s.stop) for s in splits] == [(0, 0)] * 4
    assert not any(d.batch.num_rows or d.quarantined for s in splits for d in read_split(s))


def test_row_groups_are_gathered_by_size(tmp_path):
    table = pa.table({"text": [f"{i} " + "x" * 1000 for i in range(100)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=10, use_dictionary=False)
    splits = plan_splits("s", ["a.parquet"], tmp_path, 25_000)
    assert [(s.start, s.stop) for s in splits] == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]
    assert all(20_000 < s.weight <= 25_000 for s in splits)
    assert len(plan_splits("s", ["a.parquet"], tmp_path, 1)) == 10
    assert len(plan_splits("s", ["a.parquet"], tmp_path)) == 1


def test_a_file_that_changed_after_planning_stops_the_reading(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text":"x"}\n')
    [split] = plan_splits("s", ["a.jsonl"], tmp_path)
    path.write_bytes(b'{"text":"x"}\n{"text":"y"}\n')
    with pytest.raises(InputError, match="changed since"):
        list(read_split(split))
    path.unlink()
    with pytest.raises(InputError, match="gone"):
        list(read_split(split))


def test_files_on_another_file_system(read_file):
    import fsspec

    from corpusclean.sources import ColumnSpec

    with fsspec.open("memory://corpus/a.jsonl", "wb") as file:
        file.write(b'{"text":"a"}\nbad\n{"text":"b"}\n')
    with fsspec.open("memory://corpus/b.txt", "wb") as file:
        file.write(b"hello")
    splits = plan_splits("s", ["memory://corpus/*"], "/nowhere", 8)
    read = [d for s in splits for d in read_split(s, ColumnSpec())]
    texts = [text for d in read for text in d.batch.column("text").to_pylist()]
    assert texts == ["a", "b", "hello"]
    assert [r.position for d in read for r in d.quarantined] == [2]
