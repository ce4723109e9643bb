"""Parquet: types of columns, bad rows, damage, memory."""

import datetime
import decimal
import io
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import InputError
from corpusclean.sources import ColumnSpec, check_columns, plan_splits, read_split
from corpusclean.sources.parquet_columns import decode_rows


def stored(table: pa.Table, **options) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def as_string(values: list[bytes | None]) -> pa.Array:
    """Return a string column that may hold what is not UTF-8, as careless writers make it."""
    return pa.array(values, pa.binary()).view(pa.string())


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
)
def test_types_of_text(read_bytes, kind):
    values = ["a", "", "語🙂", None, "a\r\nb\0"]
    if pa.types.is_dictionary(kind):
        column = pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    else:
        column = pa.array(values, kind)
    found = read_bytes("a.parquet", stored(pa.table({"text": column})))
    assert found.texts == ["a", "", "語🙂", "a\r\nb\0"]
    assert [d["position"] for d in found.documents] == [1, 2, 3, 5]
    assert [(r.position, r.cause) for r in found.quarantined] == [(4, "missing_text")]


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pa.array(["x", None]), ["x", ""]),
        (pa.array([17, None]), ["17", ""]),
        (pa.array([2**64 - 1, 0], pa.uint64()), ["18446744073709551615", "0"]),
        (pa.array([1.5, -2.0]), ["1.5", "-2.0"]),
        (pa.array([True, None]), ["true", ""]),
        (pa.array([b"ab", b"\xff\x00"]), ["ab", "ff00"]),
        (pa.array([b"\x01" * 16, None], pa.binary(16)), ["\x01" * 16, ""]),
        (pa.array([["a", "b"], []]), ['["a","b"]', "[]"]),
        (pa.array([{"k": 1}, None]), ['{"k":1}', ""]),
        (pa.array([decimal.Decimal("1.50"), None]), ["1.50", ""]),
        (pa.array([datetime.date(2024, 2, 29), None]), ["2024-02-29", ""]),
        (pa.array([1, None], pa.timestamp("ns")), ["1970-01-01 00:00:00.000000001", ""]),
        (pa.array([1, None], pa.timestamp("s", "Asia/Tokyo")), ["1970-01-01 00:00:01.000Z", ""]),
        (pa.array([10**17, None], pa.date64()), None),
        (pa.array([5, None], pa.duration("ns")), ["5", ""]),
        (pa.array(["x", None]).dictionary_encode(), ["x", ""]),
        (pa.nulls(2), ["", ""]),
    ],
)
def test_ids_become_text(read_bytes, column, texts):
    columns = ColumnSpec(id="n", url="n", metadata=("n",))
    table = pa.table({"text": ["a", "b"], "n": column})
    found = read_bytes("a.parquet", stored(table), columns)
    assert found.texts == ["a", "b"]
    if texts:
        assert [d["id"] for d in found.documents] == texts
        assert [d["url"] or "" for d in found.documents] == texts


def test_uuids_become_text(read_bytes):
    name = uuid.UUID(int=5)
    column = pa.array([name.bytes], pa.uuid())
    table = pa.table({"text": ["a"], "n": column})
    found = read_bytes("a.parquet", stored(table), ColumnSpec(id="n"))
    assert found.documents[0]["id"] == str(name)


def test_metadata_is_json_of_any_type(read_bytes):
    table = pa.table(
        {
            "text": ["a"],
            "x": pa.array([[1.5, float("nan")]]),
            "y": pa.array([{"k": "é", "t": datetime.datetime(2024, 1, 2)}]),
            "z": pa.array([None], pa.string()),
        }
    )
    found = read_bytes("a.parquet", stored(table), ColumnSpec(metadata=("y", "x", "z")))
    assert found.documents[0]["metadata"] == (
        '{"y":{"k":"é","t":"2024-01-02T00:00:00"},"x":[1.5,null],"z":null}'
    )


@pytest.mark.parametrize("column", ["text", "n", "m"])
def test_strings_that_are_not_utf8_are_put_aside(read_bytes, column):
    table = {name: pa.array(["a", "b", "c"]) for name in ("text", "n", "m")}
    table[column] = as_string([b"a", b"b\xff\xfe", b"c"])
    columns = ColumnSpec(id="n", url="n", metadata=("m",))
    found = read_bytes("a.parquet", stored(pa.table(table)), columns)
    assert found.texts == ["a", "c"] and [d["id"] for d in found.documents] == ["a", "c"]
    [record] = found.quarantined
    assert (record.position, record.cause, record.raw) == (2, "invalid_utf8", b"b\xff\xfe")


def test_bad_strings_inside_metadata(read_bytes):
    inner = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), as_string([b"\xff", b"ok"]))
    table = pa.table({"text": ["a", "b"], "m": inner})
    found = read_bytes("a.parquet", stored(table), ColumnSpec(metadata=("m",)))
    assert found.texts == ["b"] and found.causes == {"invalid_utf8": 1}


def test_texts_over_the_limit_are_put_aside(read_bytes):
    table = pa.table({"text": ["x" * 10, "y" * 11, None]})
    found = read_bytes("a.parquet", stored(table), max_record_bytes=10)
    assert found.texts == ["x" * 10]
    assert [(r.cause, r.raw, r.length) for r in found.quarantined] == [
        ("too_large", b"y" * 11, 11),
        ("missing_text", b"", 0),
    ]


def test_columns_that_are_not_there_or_hold_no_text(tmp_path):
    table = pa.table({"content": ["a"], "n": [1]})
    pq.write_table(table, tmp_path / "a.parquet")
    [split] = plan_splits("web", ["a.parquet"], tmp_path)
    for columns, words in [
        (ColumnSpec(), ["no column 'text'", "content, n"]),
        (ColumnSpec("contents"), ["nearest is 'content'"]),
        (ColumnSpec("content", "id"), ["no column 'id'"]),
        (ColumnSpec("n"), ["int64", "expected text"]),
    ]:
        for run in (
            lambda c=columns: check_columns(split, c),
            lambda c=columns: list(read_split(split, c)),
        ):
            with pytest.raises(InputError) as error:
                run()
            assert all(word in str(error.value) for word in [*words, "a.parquet", "web"])
    check_columns(split, ColumnSpec("content", "n", metadata=("n",)))


def test_a_column_of_nulls_alone_is_missing_text(read_bytes):
    found = read_bytes("a.parquet", stored(pa.table({"text": pa.nulls(3)})))
    assert found.causes == {"missing_text": 3}


def test_no_rows_and_no_row_groups(read_bytes):
    empty = pa.table({"text": pa.array([], pa.string())})
    assert read_bytes("a.parquet", stored(empty)).lines == 0
    buffer = io.BytesIO()
    pq.ParquetWriter(buffer, empty.schema).close()
    assert read_bytes("a.parquet", buffer.getvalue()).lines == 0


@given(st.integers(1, 9), st.integers(1, 4000), st.integers(1, 3000))
@settings(deadline=None, max_examples=30)
def test_splits_and_batches_do_not_change_what_is_read(read_bytes, group, target, batch_bytes):
    values = [None if i % 7 == 3 else f"text {i} " * (i % 5) for i in range(60)]
    table = pa.table({"text": values, "n": list(range(60))})
    data = stored(table, row_group_size=group)
    found = read_bytes("a.parquet", data, ColumnSpec(id="n"), target, batch_bytes=batch_bytes)
    assert found == read_bytes("a.parquet", data, ColumnSpec(id="n"))
    assert [int(d["id"]) + 1 for d in found.documents] == [d["position"] for d in found.documents]
    assert found.lines == 60


def test_batches_have_about_the_size_asked_for(tmp_path):
    texts = ["x" * 100] * 20_000 + ["y" * 3_000_000] * 3 + ["z" * 10] * 1000
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    [split] = plan_splits("s", ["a.parquet"], tmp_path)
    batches = [d.batch.column("text") for d in read_split(split, batch_bytes=1_000_000)]
    sizes = [sum(map(len, batch.to_pylist())) for batch in batches]
    assert sum(sizes) == 20_000 * 100 + 9_000_000 + 10_000
    assert all(size <= 1_000_000 or len(b) == 1 for size, b in zip(sizes, batches, strict=True))
    assert len(sizes) <= 9


@pytest.mark.parametrize("cut", [1, 4, 8, 100])
def test_a_cut_file_adds_one_record(read_bytes, cut):
    found = read_bytes("a.parquet", stored(pa.table({"text": ["a", "b"]}))[:-cut])
    assert found.documents == [] and found.causes == {"truncated": 1}


@pytest.mark.parametrize("data", [b"PAR1", b"x", b"hello, world, this is no Parquet", b"PAR1PAR1"])
def test_what_is_no_parquet_adds_one_record(read_bytes, data):
    found = read_bytes("a.parquet", data)
    assert found.documents == [] and len(found.quarantined) == 1
    assert found.quarantined[0].cause in ("unreadable", "truncated")


def test_a_damaged_row_group_adds_its_rows(read_bytes):
    texts = [f"{i} {'x' * i}" for i in range(300)]
    data = bytearray(
        stored(
            pa.table({"text": texts}), row_group_size=100, use_dictionary=False, compression="zstd"
        )
    )
    meta = pq.ParquetFile(io.BytesIO(bytes(data))).metadata.row_group(1).column(0)
    start = meta.data_page_offset
    data[start : start + meta.total_compressed_size] = b"\xff" * meta.total_compressed_size
    for target in (128 << 20, 1):
        found = read_bytes("a.parquet", bytes(data), target=target)
        assert found.texts == texts[:100] + texts[200:]
        assert found.causes == {"unreadable": 100}
        assert [r.position for r in found.quarantined] == list(range(101, 201))


def test_damage_that_a_page_checksum_finds(read_bytes):
    texts = ["a", *["some text"] * 8, "z"]
    data = stored(
        pa.table({"text": texts}),
        use_dictionary=False,
        compression="none",
        write_page_checksum=True,
    )
    found = read_bytes("a.parquet", data.replace(b"some text", b"same text", 1))
    assert found.documents == [] and found.causes == {"unreadable": 10}


def test_rows_are_decoded_from_slices():
    batch = pa.record_batch({"text": as_string([b"\xff", b"a", b"b\xff", b"c"]), "n": [0, 1, 2, 3]})
    decoded = decode_rows(batch.slice(1), ColumnSpec(id="n"), 1, 100)
    assert decoded.batch.column("text").to_pylist() == ["a", "c"]
    assert decoded.batch.column("id").to_pylist() == ["1", "3"]
    assert np.array_equal(decoded.position, [2, 4])
    assert [r.position for r in decoded.quarantined] == [3]
