"""Copying the tokens of a shard together from the parts that hold them."""

from collections.abc import Iterator, Sequence

import numpy as np

__all__ = ["gather"]


def gather(
    parts: Sequence[np.ndarray],
    part: np.ndarray,
    start: np.ndarray,
    tokens: np.ndarray,
    block_tokens: int = 1 << 22,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (ids, lengths) of pieces in their order, in blocks of about `block_tokens`.

    `parts` are the ids of token parts, of one type, memory maps for instance; piece i is
    `parts[part[i]][start[i] : start[i] + tokens[i]]`. Blocks hold whole pieces, at least one.
    """
    ends = np.cumsum(tokens, dtype=np.int64)
    first, done = 0, 0
    while first < len(tokens):
        last = max(first + 1, int(np.searchsorted(ends, done + block_tokens, "right")))
        lengths = tokens[first:last]
        ids = np.empty(int(ends[last - 1]) - done, parts[part[first]].dtype)
        to = 0
        for source, at, length in zip(
            part[first:last].tolist(), start[first:last].tolist(), lengths.tolist(), strict=True
        ):
            ids[to : to + length] = parts[source][at : at + length]
            to += length
        yield ids, lengths
        first, done = last, int(ends[last - 1])
