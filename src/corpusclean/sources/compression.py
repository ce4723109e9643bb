"""Streams of gzip and zstd, read to their last whole byte even when they are damaged.

A file is a row of frames (zstd) or members (gzip), each compressed apart. What a damaged frame
holds before the damage is yielded; then comes a `Damage` that says what is wrong. After a gzip
member whose checksum alone is wrong reading goes on with the next one; after other damage the
place of the next frame is unknown, and reading ends. Zero bytes after the last frame are padding.
"""

import struct
from collections.abc import Callable, Generator, Iterator
from typing import IO, Any, NamedTuple

from corpusclean.sources.formats import Compression

__all__ = ["Damage", "decompress"]

_SLICE = 4096
"""Bytes decompressed at once. A zstd block of 4 bytes can hold 128 KB, a deflate byte 1 KB: small
slices bound what one call returns, and cost nothing."""
_READ = 1 << 20
_ZSTD_WINDOW = 1 << 29
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = b"\x2a\x4d\x18"


class Damage(NamedTuple):
    """What is wrong with a file at the place that was reached: a cause of quarantine."""

    cause: str
    detail: str


class _Input:
    """Compressed bytes in slices, some of which can be given back."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._held = b""
        self._place = 0
        self.offset = 0
        """How many bytes of the file were taken and not given back."""

    def _fill(self, count: int) -> None:
        while len(self._held) - self._place < count and (more := self._file.read(_READ)):
            self._held = self._held[self._place :] + more
            self._place = 0

    def peek(self, count: int) -> bytes:
        """Return up to that many bytes and take none."""
        self._fill(count)
        return self._held[self._place : self._place + count]

    def take(self, count: int) -> bytes:
        """Take up to that many bytes; fewer only at the end of the file."""
        data = self.peek(count)
        self._place += len(data)
        self.offset += len(data)
        return data

    def give_back(self, data: bytes) -> None:
        """Put bytes that were just taken back in front."""
        self._held = data + self._held[self._place :]
        self._place = 0
        self.offset -= len(data)

    def again(self, offset: int) -> None:
        """Go back to an offset."""
        self._file.seek(offset)
        self._held, self._place, self.offset = b"", 0, offset


class _Stream:
    """One compressed stream of the input: iterate over what it holds, then ask for the damage."""

    def __init__(
        self,
        source: _Input,
        decoder: Callable[[], Any],
        exact: Callable[[], Any],
        errors: tuple[Any, ...],
    ) -> None:
        self.damage: Damage | None = None
        self._source = source
        self._decoder = decoder
        self._exact = exact
        self._errors = errors

    def __iter__(self) -> Iterator[bytes]:
        source, decoder = self._source, self._decoder()
        begin = source.offset
        while not decoder.eof:
            before = source.offset
            data = source.take(_SLICE)
            if not data:
                self.damage = _ends(source)
                return
            try:
                content = decoder.decompress(data)
            except self._errors as error:
                self.damage = Damage(
                    "unreadable",
                    f"{error}, near byte {before:,} of the file; the rest of it was not read",
                )
                yield from self._salvage(begin, before)
                return
            if content:
                yield content
        source.give_back(decoder.unused_data)

    def _salvage(self, begin: int, before: int) -> Iterator[bytes]:
        """Yield what the slice that failed holds before the failure.

        A call that fails returns nothing of what it had decoded. So the stream is decoded again
        from its start, and the last slice byte by byte.
        """
        source, decoder = self._source, self._exact()
        source.again(begin)
        try:
            while source.offset < before:
                decoder.decompress(source.take(min(_SLICE, before - source.offset)))
            while not decoder.eof and (byte := source.take(1)):
                yield decoder.decompress(byte)
        except self._errors:
            return


def _ends(source: _Input) -> Damage:
    return Damage("truncated", f"the file ends after {source.offset:,} bytes, inside its archive")


def decompress(file: IO[bytes], compression: Compression) -> Iterator[bytes | Damage]:
    """Yield the content of a compressed file in pieces, and damage where it is met.

    A file of no bytes has no content and no damage. Errors of the file system pass through.
    """
    source = _Input(file)
    frames = {"gzip": _gzip_member, "zstd": _zstd_frame}[compression]
    magics = {"gzip": (_GZIP_MAGIC,), "zstd": (_ZSTD_MAGIC,)}[compression]
    while head := source.peek(4):
        skippable = compression == "zstd" and head[1:] == _ZSTD_SKIPPABLE and head[0] >> 4 == 5
        if not skippable and not any(head.startswith(m[: len(head)]) for m in magics):
            yield from _what_follows(source, compression)
            return
        going_on = yield from frames(source)
        if not going_on:
            return


def _what_follows(source: _Input, compression: str) -> Iterator[Damage]:
    """Tell padding, which is nothing, from bytes that do not belong there."""
    offset = source.offset
    padding = True
    while data := source.take(_READ):
        padding = padding and not data.strip(b"\0")
    if not padding or offset == 0:
        count = source.offset - offset
        yield Damage(
            "unreadable", f"the {count:,} bytes from byte {offset:,} on are not {compression} data"
        )


def _zstd_frame(source: _Input) -> Generator[bytes | Damage, None, bool]:
    import zstandard

    def decoder() -> Any:
        return zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()

    stream = _Stream(source, decoder, decoder, (zstandard.ZstdError,))
    yield from stream
    if stream.damage:
        yield stream.damage
    return stream.damage is None


def _gzip_member(source: _Input) -> Generator[bytes | Damage, None, bool]:
    import zlib

    from isal import igzip_lib, isal_zlib

    problem = _skip_gzip_header(source)
    if problem:
        yield problem
        return False
    stream = _Stream(
        source,
        lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE),
        # zlib yields every byte as soon as it can; isal decodes ahead.
        lambda: zlib.decompressobj(-zlib.MAX_WBITS),
        (igzip_lib.error, zlib.error),
    )
    crc = length = 0
    for content in stream:
        crc = isal_zlib.crc32(content, crc)
        length += len(content)
        yield content
    if stream.damage:
        yield stream.damage
        return False
    trailer = source.take(8)
    if len(trailer) < 8:
        yield _ends(source)
        return False
    if struct.unpack("<II", trailer) != (crc, length % (1 << 32)):
        yield Damage(
            "unreadable",
            f"the gzip member that ends at byte {source.offset:,} of the file does not have the "
            "checksum and length that it states: what was read of it may be wrong",
        )
    return True


def _skip_gzip_header(source: _Input) -> Damage | None:
    """Take the header of a gzip member (RFC 1952, section 2.3)."""
    start = source.offset
    head = source.take(10)
    if len(head) < 10:
        return _ends(source)
    method, flags = head[2], head[3]
    if method != 8 or flags & 0xE0:
        return Damage("unreadable", f"no valid gzip header at byte {start:,} of the file")
    if flags & 4:
        extra = source.take(2)
        source.take(int.from_bytes(extra, "little"))
    for flag in (8, 16):
        if flags & flag:
            while source.take(1) not in (b"\0", b""):
                pass
    if flags & 2:
        source.take(2)
    return None if source.peek(1) else _ends(source)
