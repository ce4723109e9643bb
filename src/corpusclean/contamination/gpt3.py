"""The rule of GPT-3 for cleaning a training document (Brown et al. 2020, appendix C).

Around every benchmark 13-gram a window of 200 characters on each side is removed, which splits
the document; pieces under 200 characters go too; a document split into more than ten pieces is
dropped. Grams that occur in more than ten training documents do not count.

Where the paper leaves a choice: windows that overlap or touch are one cut, made before pieces are
counted, so that one long copied passage is one cut; every piece of at least one character counts,
also one too short to keep; a document without a hit is left as it is, however short.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["MOST_PIECES", "SHORTEST_PIECE", "WINDOW", "Gpt3Decision", "clean"]

WINDOW = 200
"""Characters removed on each side of a hit."""
SHORTEST_PIECE = 200
"""Characters that a piece must have to be kept."""
MOST_PIECES = 10
"""Pieces above which a document is dropped."""


@dataclass(frozen=True)
class Gpt3Decision:
    """What becomes of a document.

    `cuts` are half-open ranges of characters to remove, ascending and apart; they include pieces
    that are too short and may cover the whole text. `pieces` is how many the windows alone leave.
    `drop` says that there are too many of them; `cuts` stand nevertheless.
    """

    cuts: list[tuple[int, int]]
    pieces: int
    drop: bool


def clean(
    grams: np.ndarray | Sequence[int],
    starts: np.ndarray | Sequence[int],
    ends: np.ndarray | Sequence[int],
    characters: int,
    common: np.ndarray,
) -> Gpt3Decision:
    """Decide on a document of `characters` characters from its hits.

    The hits, in any order, are given by key and half-open range of characters; `common` uint64
    are the keys to ignore.
    """
    keys = np.asarray(grams, np.uint64)
    told = ~np.isin(keys, common)
    if characters == 0 or not told.any():
        return Gpt3Decision([], int(characters > 0), False)
    windows = _merged(
        np.maximum(np.asarray(starts, np.int64)[told] - WINDOW, 0),
        np.minimum(np.asarray(ends, np.int64)[told] + WINDOW, characters),
        0,
    )
    between = [*windows[:, 0], characters] - np.array([0, *windows[:, 1]])
    pieces = int(np.count_nonzero(between))
    starts, ends = windows[:, 0].copy(), windows[:, 1].copy()
    if between[0] < SHORTEST_PIECE:
        starts[0] = 0
    if between[-1] < SHORTEST_PIECE:
        ends[-1] = characters
    cuts = _merged(starts, ends, SHORTEST_PIECE - 1)
    return Gpt3Decision(
        [(int(start), int(stop)) for start, stop in cuts], pieces, pieces > MOST_PIECES
    )


def _merged(starts: np.ndarray, ends: np.ndarray, gap: int) -> np.ndarray:
    """Return int64[m, 2]: the ranges, joined where at most `gap` characters lie between them."""
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    begins = np.ones(len(starts), bool)
    begins[1:] = starts[1:] > ends[:-1] + gap
    first = np.flatnonzero(begins)
    return np.stack([starts[first], ends[np.append(first[1:], len(starts)) - 1]], axis=1)
