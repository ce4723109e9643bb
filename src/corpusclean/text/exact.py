"""The 128-bit hash by which texts count as exactly the same: the normalisation `exact-1`.

Two texts are the same if they differ only in white space (a run of it is one space, at the ends
none), in case, in the accents that `fold-1` drops, and in characters that are not seen, such as
soft hyphens. Punctuation and symbols count as they stand: `a + b` is not `a - b`.
"""

import numpy as np
import pyarrow as pa
from numba import njit

from corpusclean.text.arrow import string_buffers
from corpusclean.text.folding import (
    BLOCK_BITS,
    DROP,
    KIND_SHIFT,
    SEPARATOR,
    SPELLED,
    fold_table,
)
from corpusclean.text.hashing import BASE, KERNEL, mix
from corpusclean.text.normalise import read_only

__all__ = ["EXACT_NORMALISATION", "exact_hashes"]

EXACT_NORMALISATION = "exact-1"
"""The name of this normalisation; raised when the hash of any text changes."""

_BLOCK_MASK = (1 << BLOCK_BITS) - 1
_VALUE_MASK = (1 << KIND_SHIFT) - 1
_ONE = np.uint64(1)
_SEED_A = np.uint64(0x6578616374)
_SEED_B = np.uint64(0x7365636F6E64)
_CHAIN = np.uint64(0xD1342543DE82EF95)
_ROTATE_LEFT = np.uint64(31)
_ROTATE_RIGHT = np.uint64(33)
_SPACE = 32


def exact_hashes(texts: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the two 64-bit halves of the hash of every text, uint64[n, 2]."""
    data, offsets = string_buffers(texts)
    table = fold_table()
    hashes = np.empty((len(offsets) - 1, 2), np.uint64)
    _hash_texts(
        read_only(data),
        read_only(offsets),
        table.index,
        table.entries,
        table.spelling_offsets,
        table.spellings,
        hashes,
    )
    return hashes


@njit(inline="always", **KERNEL)
def _is_space(c: int) -> bool:
    """Tell whether a code point is white space, as `str.isspace` does."""
    if c < 0x80:
        return c == 32 or 9 <= c <= 13 or 28 <= c <= 31
    if c < 0x1680:
        return c == 0x85 or c == 0xA0
    return (
        c == 0x1680 or 0x2000 <= c <= 0x200A or c == 0x2028 or c == 0x2029
        or c == 0x202F or c == 0x205F or c == 0x3000
    )  # fmt: skip


@njit(inline="always", **KERNEL)
def _chain(a: np.uint64, b: np.uint64, value: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Advance two unlike 64-bit chains by one value."""
    b ^= value
    b = (b << _ROTATE_LEFT) | (b >> _ROTATE_RIGHT)
    return a * BASE + value, b * _CHAIN


@njit(**KERNEL)
def _hash_texts(
    data: np.ndarray,
    offsets: np.ndarray,
    index: np.ndarray,
    entries: np.ndarray,
    spelling_offsets: np.ndarray,
    spellings: np.ndarray,
    hashes: np.ndarray,
) -> None:
    for text in range(hashes.shape[0]):
        i = offsets[text]
        stop = offsets[text + 1]
        a = _SEED_A
        b = _SEED_B
        length = np.uint64(0)
        space = False
        while i < stop:
            byte = data[i]
            if byte < 0x80:
                c = np.int64(byte)
                i += 1
            elif byte < 0xE0:
                c = (np.int64(byte) & 31) << 6 | (np.int64(data[i + 1]) & 63)
                i += 2
            elif byte < 0xF0:
                c = (
                    (np.int64(byte) & 15) << 12
                    | (np.int64(data[i + 1]) & 63) << 6
                    | (np.int64(data[i + 2]) & 63)
                )
                i += 3
            else:
                c = (
                    (np.int64(byte) & 7) << 18
                    | (np.int64(data[i + 1]) & 63) << 12
                    | (np.int64(data[i + 2]) & 63) << 6
                    | (np.int64(data[i + 3]) & 63)
                )
                i += 4
            if _is_space(c):
                space = bool(length > np.uint64(0))
                continue
            block = np.int64(index[c >> BLOCK_BITS]) << BLOCK_BITS
            entry = np.int64(entries[block | (c & _BLOCK_MASK)])
            kind = entry >> KIND_SHIFT
            part = np.int64(0)
            parts = np.int64(0)
            if kind == SPELLED:
                part = np.int64(spelling_offsets[entry & _VALUE_MASK])
                parts = np.int64(spelling_offsets[(entry & _VALUE_MASK) + 1])
                entry = np.int64(spellings[part])
            while True:
                kind = entry >> KIND_SHIFT
                if kind != DROP:
                    value = entry & _VALUE_MASK
                    if value == 0 or (kind == SEPARATOR and parts == 0):
                        value = c
                    if space:
                        a, b = _chain(a, b, np.uint64(_SPACE) + _ONE)
                        length += _ONE
                        space = False
                    a, b = _chain(a, b, np.uint64(value) + _ONE)
                    length += _ONE
                part += 1
                if part >= parts:
                    break
                entry = np.int64(spellings[part])
        hashes[text, 0] = mix(a ^ length)
        hashes[text, 1] = mix(b + length)
