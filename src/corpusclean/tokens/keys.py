"""The two random keys of a document: functions of its uid and the seed, and of nothing else.

A key is xxh3-64 of the 16 bytes of the uid, the seed as a little-endian uint64, and the purpose,
`order` or `choose`. The two are independent: where a document stands in the stream tells nothing
about whether it is chosen.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import xxhash

__all__ = ["UID_BYTES", "Uids", "choose_keys", "order_keys", "uid_bytes"]

UID_BYTES = 16

Uids: TypeAlias = "Sequence[bytes] | np.ndarray | pa.FixedSizeBinaryArray"
"""Bytes objects of 16, a uint8 array of (n, 16), or a fixed_size_binary(16) array."""


def uid_bytes(uids: Uids) -> bytes:
    """Return uids as one run of bytes, 16 for each; ValueError if one has another length."""
    if isinstance(uids, pa.FixedSizeBinaryArray):
        width = uids.type.byte_width
        start, stop = uids.offset * width, (uids.offset + len(uids)) * width
        run = uids.buffers()[1].slice(start, stop - start).to_pybytes() if len(uids) else b""
        fits = width == UID_BYTES and uids.null_count == 0
    elif isinstance(uids, np.ndarray):
        run = uids.tobytes()
        fits = uids.dtype == np.uint8 and uids.ndim == 2 and uids.shape[1] == UID_BYTES
    else:
        run = b"".join(uids)
        fits = all(len(uid) == UID_BYTES for uid in uids)
    if not fits:
        raise ValueError("a uid has 16 bytes")
    return run


def order_keys(uids: Uids, seed: int) -> np.ndarray:
    """Return uint64[n]: where each document stands in the stream."""
    return _keys(uids, seed, b"order")


def choose_keys(uids: Uids, seed: int) -> np.ndarray:
    """Return uint64[n]: documents with low keys get a copy more."""
    return _keys(uids, seed, b"choose")


def _keys(uids: Uids, seed: int, purpose: bytes) -> np.ndarray:
    run = uid_bytes(uids)
    tail = seed.to_bytes(8, "little") + purpose
    digest = xxhash.xxh3_64_intdigest
    starts = range(0, len(run), UID_BYTES)
    keys = (digest(run[start : start + UID_BYTES] + tail) for start in starts)
    return np.fromiter(keys, np.uint64, len(starts))
