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


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, each with its LF; or the beginning of a line that is too long.

    `too_long` is that line's length in bytes, 0 otherwise. With `damage` the lines are those
    before it, and the last of them may be cut.
    """

    data: bytes
    too_long: int = 0
    damage: Damage | None = None


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
    pieces: Iterable[bytes | Damage], block_bytes: int, longest: int
) -> Iterator[Block]:
    """Gather pieces to blocks of whole lines of about `block_bytes`.

    A line that outgrows `longest` while it is gathered is not held: its block has its first
    `RAW_BYTES`. (A shorter block may still hold a line longer than `longest`.)
    """
    gathering = _Gathering(longest)
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

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> Iterator[Block]:
        """Take more bytes; yield the lines that they complete."""
        cut = data.rfind(b"\n") + 1
        if cut and self._size > self._longest:
            first = data.find(b"\n") + 1
            yield self._too_long(self._size + first - 1)
            data, cut = data[first:], cut - first
            self._pieces, self._size = [], 0
        if cut:
            yield Block(b"".join([*self._pieces, data[:cut]]))
            data = data[cut:]
            self._pieces, self._size = [], 0
        if data:
            self._pieces.append(data)
            self._size += len(data)
        if self._size > self._longest:
            self._pieces = [self._too_long(0).data]

    def end(self, damage: Damage | None) -> Iterator[Block]:
        """Yield the line that no LF ends, with the damage that ended it."""
        if self._size > self._longest:
            yield self._too_long(self._size)
            self._pieces = []
        if self._pieces or damage:
            yield Block(b"".join(self._pieces), damage=damage)
        self._pieces, self._size = [], 0

    def _too_long(self, length: int) -> Block:
        return Block(b"".join(self._pieces)[:RAW_BYTES], too_long=length)
