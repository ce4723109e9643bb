"""Grouping of rows with equal 128-bit keys: records read twice, and exact duplicates."""

import numpy as np
import pyarrow as pa

__all__ = ["first_in_group", "key_halves"]


def key_halves(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return a column of fixed_size_binary(16) without nulls (`uid`, `exact_hash`) as uint64[n, 2].

    The halves are big-endian, so the order of rows of halves is the order of the bytes.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if len(column) == 0:
        return np.zeros((0, 2), np.uint64)
    begin = column.offset * 16
    values = np.frombuffer(column.buffers()[1], np.uint8)[begin : begin + len(column) * 16]
    return values.view(">u8").reshape(-1, 2).astype(np.uint64)


def first_in_group(keys: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return for every row the row of lowest rank among those with its key: itself, if first.

    `keys` uint64[n, 2], `rank` int64[n] without ties inside a group (see `keep_order`); the
    result is int64[n]. Memory is O(n).
    """
    count = len(keys)
    if count == 0:
        return np.zeros(0, np.int64)
    order = np.lexsort((rank, keys[:, 1], keys[:, 0]))
    ordered = keys[order]
    begins = np.empty(count, bool)
    begins[0] = True
    np.any(ordered[1:] != ordered[:-1], axis=1, out=begins[1:])
    first = np.empty(count, np.int64)
    first[order] = order[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    return first
