"""MinHash signatures over a token stream.

A shingle is a window of consecutive tokens; how many depends on its first token alone, so that a
text in several scripts needs no decision for the whole of it. Permutation k maps the high 32 bits
x of a shingle's mixed 64-bit hash to `multipliers[k] * x + addends[k]` modulo 2**32, and value k
of the signature is the least of them.
"""

import numpy as np
from numba import njit

from corpusclean.text.hashing import BASE, KERNEL, mix

__all__ = ["permutations", "sign_documents"]

_BLOCK = 256
_HIGH = np.uint64(32)
_ONE = np.uint64(1)
_LARGEST = np.uint32(0xFFFFFFFF)


def permutations(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the odd multipliers and the addends of `count` permutations, both uint32.

    Multiplier k is the high half of `splitmix64(2k)` made odd, addend k that of
    `splitmix64(2k + 1)`, where `splitmix64(n)` is output n of the generator seeded with 0.
    Fewer permutations are a prefix of more.
    """
    numbers = np.array([_splitmix64(n) for n in range(2 * count)], np.uint64) >> _HIGH
    multipliers = (numbers[0::2] | _ONE).astype(np.uint32)
    return multipliers, numbers[1::2].astype(np.uint32)


def _splitmix64(n: int) -> int:
    z = (n + 1) * 0x9E3779B97F4A7C15 % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


@njit(**KERNEL)
def _take_minima(
    block: np.ndarray,
    size: int,
    multipliers: np.ndarray,
    addends: np.ndarray,
    signature: np.ndarray,
) -> None:
    """Lower the signature by a block of shingles, four at a time; `size` may not be 0."""
    while size % 4:
        block[size] = block[0]
        size += 1
    for i in range(0, size, 4):
        x0 = block[i]
        x1 = block[i + 1]
        x2 = block[i + 2]
        x3 = block[i + 3]
        for k in range(signature.shape[0]):
            a = multipliers[k]
            b = addends[k]
            low = min(np.uint32(x0 * a + b), np.uint32(x1 * a + b))
            high = min(np.uint32(x2 * a + b), np.uint32(x3 * a + b))
            signature[k] = min(signature[k], min(low, high))


@njit(**KERNEL)
def _sign_windows(
    hashes: np.ndarray,
    start: int,
    stop: int,
    width: int,
    kind: np.uint64,
    block: np.ndarray,
    multipliers: np.ndarray,
    addends: np.ndarray,
    signature: np.ndarray,
) -> int:
    """Lower the signature by each window of `width` tokens whose first is of `kind`."""
    if stop - start < width:
        return 0
    leaving = np.uint64(1)
    window = np.uint64(0)
    for i in range(start, start + width):
        window = window * BASE + hashes[i]
        leaving *= BASE
    shingles = 0
    size = 0
    for i in range(start, stop - width + 1):
        if hashes[i] & _ONE == kind:
            block[size] = np.uint32(mix(window) >> _HIGH)
            size += 1
            if size == _BLOCK:
                _take_minima(block, size, multipliers, addends, signature)
                shingles += size
                size = 0
        if i + width < stop:
            window = window * BASE + hashes[i + width] - hashes[i] * leaving
    if size:
        _take_minima(block, size, multipliers, addends, signature)
    return shingles + size


@njit(**KERNEL)
def sign_documents(
    hashes: np.ndarray,
    token_offsets: np.ndarray,
    word_width: int,
    character_width: int,
    multipliers: np.ndarray,
    addends: np.ndarray,
    signatures: np.ndarray,
    shingles: np.ndarray,
) -> None:
    """Fill the signature and the number of shingles of every text.

    `signatures` uint32[n, k] is meaningless where `shingles` int64[n] is 0.
    """
    block = np.empty(_BLOCK, np.uint32)
    for text in range(token_offsets.shape[0] - 1):
        start = token_offsets[text]
        stop = token_offsets[text + 1]
        signature = signatures[text]
        signature[:] = _LARGEST
        characters = np.int64(0)
        for i in range(start, stop):
            characters += np.int64(hashes[i] & _ONE)
        found = 0
        if characters < stop - start:
            found += _sign_windows(
                hashes,
                start,
                stop,
                word_width,
                np.uint64(0),
                block,
                multipliers,
                addends,
                signature,
            )
        if characters:
            found += _sign_windows(
                hashes,
                start,
                stop,
                character_width,
                _ONE,
                block,
                multipliers,
                addends,
                signature,
            )
        shingles[text] = found
