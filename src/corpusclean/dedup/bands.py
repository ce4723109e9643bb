"""The bucket of each band of a signature."""

import numpy as np
from numba import njit

from corpusclean.text.hashing import BASE, KERNEL, mix
from corpusclean.text.normalise import read_only

__all__ = ["band_keys"]


def band_keys(signatures: np.ndarray, bands: int, rows: int) -> np.ndarray:
    """Return the 64-bit key of every band, uint64[n, bands], of signatures uint32[n, bands * rows].

    Two documents share a bucket if and only if they have a key in common. The band's number is
    part of its key, so equal values in different bands do not meet. Rows without a signature are
    the caller's to leave out.
    """
    if signatures.ndim != 2 or signatures.shape[1] != bands * rows:
        raise ValueError(
            f"signatures have the shape {signatures.shape}, expected (n, {bands * rows}) "
            f"for {bands} bands of {rows} rows"
        )
    keys = np.empty((len(signatures), bands), np.uint64)
    _fill(read_only(np.ascontiguousarray(signatures)), rows, keys)
    return keys


@njit(**KERNEL)
def _fill(signatures: np.ndarray, rows: int, keys: np.ndarray) -> None:
    for document in range(keys.shape[0]):
        for band in range(keys.shape[1]):
            h = mix(np.uint64(band + 1))
            for value in signatures[document, band * rows : (band + 1) * rows]:
                h = mix(h * BASE + np.uint64(value))
            keys[document, band] = h
