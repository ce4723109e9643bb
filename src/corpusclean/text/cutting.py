"""Taking ranges of characters out of a text."""

from collections.abc import Iterable

__all__ = ["apply_cuts", "merge_ranges"]


def merge_ranges(ranges: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Return half-open ranges in order, those that overlap or touch joined, none empty.

    Ranges are clipped to [0, length).
    """
    merged: list[tuple[int, int]] = []
    for start, stop in sorted((max(0, a), min(length, b)) for a, b in ranges):
        if start >= stop:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def apply_cuts(text: str, ranges: Iterable[tuple[int, int]]) -> tuple[str, int]:
    """Return what is left of a text, its pieces joined by a newline, and the characters cut.

    The ranges are half-open, in characters, in any order, and may overlap.
    """
    pieces = []
    cut = position = 0
    for start, stop in merge_ranges(ranges, len(text)):
        pieces.append(text[position:start])
        cut += stop - start
        position = stop
    pieces.append(text[position:])
    return "\n".join(piece for piece in pieces if piece), cut
