"""The 64-bit hashes that kernels share.

A span of bytes is hashed by a polynomial modulo 2**64 over its bytes plus one, so that the hash
of any span follows from two prefix hashes; `mix` spreads the bits before the hash is used as a
key. Neither is meant to withstand an adversary.
"""

import numpy as np
from numba import njit

__all__ = ["BASE", "KERNEL", "mix", "span_hash"]

KERNEL = {"nogil": True, "cache": True, "error_model": "numpy"}
"""Options of every kernel: no fast-math, so that numbers are the same on every machine."""

BASE = np.uint64(0x9E3779B97F4A7C15)

_SHIFT = np.uint64(33)
_MIX_1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX_2 = np.uint64(0xC4CEB9FE1A85EC53)
_ONE = np.uint64(1)


@njit(inline="always", **KERNEL)
def mix(h: np.uint64) -> np.uint64:
    """Spread the bits of a hash (the finalizer of MurmurHash3, 64 bits; a bijection)."""
    h ^= h >> _SHIFT
    h *= _MIX_1
    h ^= h >> _SHIFT
    h *= _MIX_2
    h ^= h >> _SHIFT
    return h


@njit(**KERNEL)
def span_hash(data: np.ndarray, start: int, stop: int) -> np.uint64:
    """Hash the bytes of `data` in the half-open range [start, stop)."""
    h = np.uint64(0)
    for i in range(start, stop):
        h = h * BASE + np.uint64(data[i]) + _ONE
    return h
