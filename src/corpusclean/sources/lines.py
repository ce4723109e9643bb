"""Lines, whole, out of a stream of bytes or a range of a file.

A line ends with LF, which is not part of it; the last line of a file may lack it. A line belongs
to the range in which its first byte lies.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from corpusclean.sources.compression import Damage
from corpusclean.sources.records import RAW_BYTES

__all__ = ["Block", "line_blocks", "lines_before", "read_range", "whole_lines"]

_READ = 1 << 20
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines without their LF.

    `cut` is the part of a line before `damage`. If the line that the block is about is too long,
    `too_long` is its length in bytes, and `cut` its first `RAW_BYTES`.
    """

    lines: list[bytes]
    cut: bytes = b""
    damage: Damage | None = None
    too_long: int = 0


def whole_lines(file: IO[bytes], start: int, stop: int, size: int) -> tuple[int, int]:
    """Return the range of bytes that holds the lines whose first byte lies in [start, stop)."""
    begin = _after_newline(file, start - 1) if start else 0
    end = _after_newline(file, stop - 1) if 0 < stop < size else stop
    return begin, max(begin, end)


def _after_newline(file: IO[bytes], offset: int) -> int:
    """Return where the line after the first LF at or after an offset begins."""
    file.seek(offset)
    while data := file.read(_READ):
        place = data.find(b"\n")
        if place >= 0:
            return offset + place + 1
        offset += len(data)
    return offset


def read_range(file: IO[bytes], begin: int, end: int, piece: int) -> Iterator[bytes]:
    """Yield the bytes [begin, end) of a file in pieces."""
    file.seek(begin)
    while begin < end and (data := file.read(min(piece, end - begin))):
        begin += len(data)
        yield data


def lines_before(file: IO[bytes], offset: int) -> int:
    """Return how many lines end before an offset."""
    return sum(data.count(b"\n") for data in read_range(file, 0, offset, _READ))


def line_blocks(
    pieces: Iterable[bytes | Damage], block_bytes: int, longest: int, starts_file: bool
) -> Iterator[Block]:
    """Gather pieces to blocks of whole lines of about `block_bytes`.

    A line that outgrows `longest` is not held beyond its first `RAW_BYTES`, and has a block of
    its own; only a line that is shorter than `block_bytes` may be longer and stand among others.
    The byte order mark that may begin a file is no part of its first line.
    """
    gathering = _Gathering(longest, starts_file)
    fresh: list[bytes] = []
    size = 0
    for piece in pieces:
        if isinstance(piece, Damage):
            yield from gathering.add(b"".join(fresh))
            yield from gathering.end(piece)
            fresh, size = [], 0
            continue
        fresh.append(piece)
        size += len(piece)
        if size >= block_bytes:
            yield from gathering.add(b"".join(fresh))
            fresh, size = [], 0
    yield from gathering.add(b"".join(fresh))
    yield from gathering.end(None)


class _Gathering:
    """The line that is not finished yet, in pieces that hold no LF."""

    def __init__(self, longest: int, starts_file: bool) -> None:
        self._longest = longest
        self._mark = _BOM if starts_file else b""
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> Iterator[Block]:
        """Take more bytes; yield the lines that they complete."""
        first = data.find(b"\n")
        if first >= 0:
            self._hold(data[:first])
            if self._size > self._longest:
                yield self._too_long()
                lines = data[first + 1 :].split(b"\n")
            else:
                # The line begun earlier is joined alone: it may be large, and is copied once.
                lines = [self._take(), *data[first + 1 :].split(b"\n")]
            data = lines.pop()
            if lines:
                yield Block(lines)
        self._hold(data)

    def end(self, damage: Damage | None) -> Iterator[Block]:
        """Yield the line that no LF ends, with the damage that ended it."""
        if self._size > self._longest:
            yield self._too_long()
        rest = self._take()
        if damage:
            yield Block([], rest, damage)
        elif rest:
            yield Block([rest])

    def _hold(self, data: bytes) -> None:
        if data:
            self._pieces.append(data)
            self._size += len(data)
        if self._size > self._longest:
            self._pieces = [b"".join(self._pieces)[:RAW_BYTES]]

    def _take(self) -> bytes:
        line = b"".join(self._pieces).removeprefix(self._mark)
        self._pieces, self._size, self._mark = [], 0, b""
        return line

    def _too_long(self) -> Block:
        length = self._size
        return Block([], self._take(), too_long=length)
