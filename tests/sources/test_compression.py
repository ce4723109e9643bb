"""Packed input: whole, in several frames, cut, damaged, and with things after it."""

import gzip
import io
import json
import random
import struct
import zlib

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.sources.compression import Damage, decompress


def packed(compression: str, data: bytes) -> bytes:
    if compression == "gzip":
        return gzip.compress(data, mtime=0)
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def unpack(compression: str, data: bytes) -> tuple[bytes, list[Damage]]:
    pieces = list(decompress(io.BytesIO(data), compression))
    damage = [piece for piece in pieces if isinstance(piece, Damage)]
    return b"".join(piece for piece in pieces if not isinstance(piece, Damage)), damage


def prose(count: int) -> bytes:
    choose = random.Random(5)
    words = [bytes(choose.choices(b"abcdefghij", k=5)) for _ in range(4000)]
    return b" ".join(choose.choice(words) for _ in range(count))


BOTH = pytest.mark.parametrize("compression", ["gzip", "zstd"])
TEXT = prose(60_000)


@BOTH
@pytest.mark.parametrize("data", [b"", b"a", b"hello\n" * 50, bytes(5_000_000), TEXT])
@pytest.mark.parametrize("frames", [1, 2, 3])
def test_whole(compression, data, frames):
    assert unpack(compression, packed(compression, data) * frames) == (data * frames, [])


@BOTH
def test_no_bytes_are_no_content_and_no_damage(compression):
    assert unpack(compression, b"") == (b"", [])


@BOTH
def test_zeros_after_the_end_are_padding(compression):
    assert unpack(compression, packed(compression, b"a\n") + bytes(5000)) == (b"a\n", [])


@BOTH
@pytest.mark.parametrize("rest", [b"garbage", b"\0\0x", b'{"text":"a"}\n' * 1000])
def test_other_bytes_after_the_end_are_damage(compression, rest):
    content, [damage] = unpack(compression, packed(compression, b"a\n") + rest)
    assert content == b"a\n"
    assert damage.cause == "unreadable" and f"{len(rest):,} bytes" in damage.detail


@BOTH
@pytest.mark.parametrize("data", [b'{"text":"a"}\n', b"x", bytes(8)])
def test_a_file_that_is_not_packed_at_all(compression, data):
    content, [damage] = unpack(compression, data)
    assert content == b"" and damage.cause == "unreadable"


@BOTH
def test_cut_at_every_place(compression):
    """Every beginning yields a beginning of the content, and says that the end is missing."""
    data = b"".join(b"line %d\n" % i for i in range(40))
    whole = packed(compression, data)
    for place in range(1, len(whole)):
        content, [damage] = unpack(compression, whole[:place])
        assert data.startswith(content) and damage.cause == "truncated"
    tail = 8 if compression == "gzip" else 4
    assert unpack(compression, whole[:-tail])[0] == data


@BOTH
def test_what_can_be_read_before_a_cut_is_read(compression):
    whole = packed(compression, TEXT)
    content, [damage] = unpack(compression, whole[: len(whole) // 2])
    assert damage.cause == "truncated"
    assert TEXT.startswith(content)
    # zstd decodes by blocks of up to 128 KB of content.
    assert len(content) >= len(TEXT) // 2 - (140_000 if compression == "zstd" else 10_000)


def test_what_can_be_read_before_damage_in_gzip_is_read_to_the_byte():
    whole = bytearray(packed("gzip", TEXT))
    place = len(whole) // 2
    whole[place : place + 64] = b"\xff" * 64
    content, [damage] = unpack("gzip", bytes(whole))
    judge, exact = zlib.decompressobj(-15), b""
    try:
        for i in range(10, len(whole)):
            exact += judge.decompress(whole[i : i + 1])
    except zlib.error:
        pass
    assert content == exact and len(content) > len(TEXT) // 3
    assert damage.cause == "unreadable" and "byte" in damage.detail


def test_what_can_be_read_before_damage_in_zstd_is_read():
    data = TEXT * 3
    whole = bytearray(packed("zstd", data))
    whole[len(whole) // 2 : len(whole) // 2 + 64] = b"\xff" * 64
    content, [damage] = unpack("zstd", bytes(whole))
    assert damage.cause == "unreadable"
    assert content[: 128 << 10] == data[: 128 << 10]


def test_a_wrong_checksum_in_zstd_keeps_the_content():
    content, [damage] = unpack("zstd", packed("zstd", TEXT)[:-4] + b"abcd")
    assert content == TEXT and damage.cause == "unreadable"


@pytest.mark.parametrize("field", [slice(-8, -4), slice(-4, None)])
def test_after_a_wrong_gzip_checksum_reading_goes_on(field):
    member = bytearray(packed("gzip", b"one\n"))
    member[field] = b"abcd"
    content, [damage] = unpack("gzip", bytes(member) + packed("gzip", b"two\n"))
    assert content == b"one\ntwo\n"
    assert damage.cause == "unreadable" and "checksum" in damage.detail


def test_gzip_headers_with_every_field():
    body = packed("gzip", b"hello")[10:]
    head = struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, 4 | 8 | 16 | 2, 0, 0, 255)
    extra = struct.pack("<H", 6) + b"BC\2\0\1\2"
    whole = head + extra + b"name.jsonl\0comment\0" + b"\1\2" + body
    assert unpack("gzip", whole) == (b"hello", [])
    for place in range(1, len(whole)):
        assert unpack("gzip", whole[:place])[1][0].cause == "truncated"
    assert unpack("gzip", whole[:3] + b"\xff" + whole[4:])[1][0].cause == "unreadable"


def test_zstd_frames_that_are_skipped():
    skipped = b"\x53\x2a\x4d\x18" + struct.pack("<I", 4) + b"abcd"
    frame = packed("zstd", b"hello")
    assert unpack("zstd", skipped + frame + skipped + frame) == (b"hellohello", [])


@given(st.sampled_from(["gzip", "zstd"]), st.binary(max_size=100), st.integers(0, 3), st.booleans())
@settings(deadline=None)
def test_any_bytes_are_read_to_an_end(compression, data, place, keep):
    begin = packed(compression, b"hello " * 20) if keep else b""
    place *= len(begin) // 3
    content, damage = unpack(compression, begin[:place] + data + begin[place:])
    assert content or damage or not data or not data.strip(b"\0")


GOOD = [json.dumps({"text": f"document {i}"}).encode() for i in range(200)]


@BOTH
@pytest.mark.parametrize("batch_bytes", [1, 100, 1 << 20])
def test_a_cut_archive_adds_one_record(read_bytes, compression, batch_bytes):
    name = "a.jsonl.gz" if compression == "gzip" else "a.jsonl.zst"
    data = b"\n".join(GOOD) + b"\n"
    whole = packed(compression, data)
    for cut in (1, 3, 9, 30, len(whole) // 2, len(whole) - 1):
        content = unpack(compression, whole[:-cut])[0]
        found = read_bytes(name, whole[:-cut], batch_bytes=batch_bytes)
        rest = content.rpartition(b"\n")[2]
        complete = content.count(b"\n") + (rest in GOOD)
        assert found.texts == [f"document {i}" for i in range(complete)]
        [record] = found.quarantined
        assert (record.cause, record.position) == ("truncated", complete + 1)
        assert record.raw == (b"" if rest in GOOD else rest)


def test_a_cut_exactly_after_a_line_adds_one_record_too(read_bytes):
    """Two members, the last without its checksum: both lines are there, and the cut is told."""
    data = gzip.compress(b'{"text":"a b"}\n') + gzip.compress(b'{"text":"c d"}\n')
    found = read_bytes("a.jsonl.gz", data[:-4])
    assert found.texts == ["a b", "c d"]
    assert [(r.cause, r.raw, r.position) for r in found.quarantined] == [("truncated", b"", 3)]


def test_a_line_that_goes_on_in_the_next_member(read_bytes):
    data = gzip.compress(b'{"text":"a') + gzip.compress(b' b"}\n')
    assert read_bytes("a.jsonl.gz", data).texts == ["a b"]


def test_damage_in_the_middle_of_a_file_of_members(read_bytes):
    bad = bytearray(gzip.compress(b'{"text":"c"}\n'))
    bad[-8:-4] = b"abcd"
    parts = [gzip.compress(b'{"text":"a"}\n'), bytes(bad), gzip.compress(b'{"text":"e"}\n')]
    found = read_bytes("a.jsonl.gz", b"".join(parts))
    assert found.texts == ["a", "c", "e"]
    assert [d["position"] for d in found.documents] == [1, 2, 4]
    assert [(r.cause, r.position) for r in found.quarantined] == [("unreadable", 3)]


@BOTH
def test_a_packed_file_without_content_has_no_record(read_bytes, compression):
    name = "a.jsonl.gz" if compression == "gzip" else "a.jsonl.zst"
    for data in (b"", packed(compression, b"")):
        assert read_bytes(name, data).lines == 0
