"""Encoding a huge document in pieces, for a library that needs memory a hundred times its size.

A tokenizer may look across any place in a text, so a cut is tried before it is made: the
surroundings of a line's end are encoded whole and in two, and the cut is made where the ids are
the same. A tokenizer that adds something to the front of every text has no such place; its
documents are encoded whole.
"""

from collections.abc import Callable, Iterator

import numpy as np

__all__ = ["split_huge"]

PIECE = 1 << 20
"""Characters of a piece, about."""

_AROUND = 2048
_CANDIDATES = 32


def split_huge(text: str, encode: Callable[[str], np.ndarray]) -> Iterator[str]:
    """Yield pieces of a text whose ids, one after another, are the ids of the text."""
    start = 0
    while len(text) - start > 2 * PIECE:
        cut = _find_cut(text, start + PIECE, encode)
        if cut is None:
            break
        yield text[start:cut]
        start = cut
    yield text[start:]


def _find_cut(text: str, after: int, encode: Callable[[str], np.ndarray]) -> int | None:
    """Return a place behind `after` where a text can be cut, or None if the first few cannot."""
    for _ in range(_CANDIDATES):
        after = text.find("\n", after, len(text) - _AROUND) + 1
        if after == 0:
            return None
        before, behind = text[after - _AROUND : after], text[after : after + _AROUND]
        whole = encode(before + behind)
        if np.array_equal(whole, np.concatenate([encode(before), encode(behind)])):
            return after
    return None
