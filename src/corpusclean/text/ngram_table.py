"""n-grams of tokens, and where those of a given set occur.

The key of an n-gram is the polynomial over the hashes of its tokens, mixed. A set of keys is kept
sorted; a directory by their leading bits says where to look, and a bitmap of at least eight bits a
key turns away most keys of other text before anything larger is touched.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from corpusclean.text.hashing import BASE, KERNEL, mix
from corpusclean.text.normalise import TokenStream, read_only

__all__ = ["NgramTable", "Occurrences", "find_grams", "gram_keys"]

_BLOCK = 256
_WORD_BITS = np.uint64(6)
_LOW_BITS = np.uint64(63)
_ONE = np.uint64(1)


@dataclass(frozen=True)
class NgramTable:
    """A set of n-gram keys that can be looked up.

    `grams` uint64[g], ascending and unique. `directory` uint32[2**d + 1]: the keys whose leading
    d bits are p are `grams[directory[p]:directory[p + 1]]`. `bitmap` uint64[2**b / 64]: bit p is
    set if a key begins with the b bits p.
    """

    grams: np.ndarray
    directory: np.ndarray
    bitmap: np.ndarray

    @classmethod
    def of(cls, grams: np.ndarray) -> "NgramTable":
        """Build the table of keys uint64[g] that are ascending and unique; fewer than 2**32."""
        bits = max(1, len(grams).bit_length())
        edges = np.arange(2**bits, dtype=np.uint64) << np.uint64(64 - bits)
        directory = np.empty(2**bits + 1, np.uint32)
        directory[:-1] = np.searchsorted(grams, edges)
        directory[-1] = len(grams)
        bitmap_bits = max(6, bits + 3)
        bitmap = np.zeros(2 ** (bitmap_bits - 6), np.uint64)
        leading = grams >> np.uint64(64 - bitmap_bits)
        np.bitwise_or.at(bitmap, leading >> _WORD_BITS, _ONE << (leading & _LOW_BITS))
        return cls(read_only(grams), read_only(directory), read_only(bitmap))

    @property
    def shifts(self) -> tuple[np.uint64, np.uint64]:
        """By how much a key is shifted to index the directory, and the bits of the bitmap."""
        directory_bits = (len(self.directory) - 1).bit_length() - 1
        bitmap_bits = (len(self.bitmap) * 64).bit_length() - 1
        return np.uint64(64 - directory_bits), np.uint64(64 - bitmap_bits)


@dataclass(frozen=True)
class Occurrences:
    """Where n-grams of a table occur in a batch of texts.

    Those of text i are `[offsets[i], offsets[i + 1])` of the other arrays, in order of the text:
    `grams` uint64, `starts` and `ends` int64 the half-open range of characters from the start of
    the first token to the end of the last.
    """

    offsets: np.ndarray
    grams: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


def gram_keys(stream: TokenStream, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of all n-grams, uint64, text after text, and how many a text has, int64."""
    counts = np.maximum(np.diff(stream.offsets) - (n - 1), 0)
    keys = np.empty(int(counts.sum()), np.uint64)
    _fill_keys(stream.hashes, stream.offsets, n, keys)
    return keys, counts


def find_grams(stream: TokenStream, n: int, table: NgramTable) -> Occurrences:
    """Return every occurrence of an n-gram of the table."""
    offsets = np.zeros(len(stream) + 1, np.int64)
    lookup = (table.grams, table.directory, table.bitmap, *table.shifts)
    nowhere = np.empty(0, np.int64)
    _find(stream.hashes, stream.offsets, n, *lookup, False, offsets, nowhere)
    np.cumsum(offsets, out=offsets)
    places = np.empty(int(offsets[-1]), np.int64)
    _find(stream.hashes, stream.offsets, n, *lookup, True, offsets, places)
    return Occurrences(
        offsets,
        _keys_at(stream.hashes, n, places),
        stream.starts[places].astype(np.int64),
        stream.ends[places + n - 1].astype(np.int64),
    )


@njit(**KERNEL)
def _first_window(hashes: np.ndarray, start: int, n: int) -> np.uint64:
    window = np.uint64(0)
    for i in range(start, start + n):
        window = window * BASE + hashes[i]
    return window


@njit(**KERNEL)
def _roll(
    hashes: np.ndarray,
    start: int,
    stop: int,
    n: int,
    window: np.uint64,
    leaving: np.uint64,
    keys: np.ndarray,
) -> np.uint64:
    """Write the keys of the windows from `start` on, as many as `keys` holds; return the next.

    `window` is that at `start`, `leaving` the weight of its first token, one place on; `stop` is
    the end of the text's tokens, where no window follows.
    """
    for k in range(keys.shape[0]):
        keys[k] = mix(window)
        entering = start + k + n
        if entering < stop:
            window = window * BASE + hashes[entering] - hashes[start + k] * leaving
    return window


@njit(**KERNEL)
def _power(n: int) -> np.uint64:
    power = np.uint64(1)
    for _ in range(n):
        power *= BASE
    return power


@njit(**KERNEL)
def _fill_keys(hashes: np.ndarray, offsets: np.ndarray, n: int, keys: np.ndarray) -> None:
    count = 0
    for text in range(offsets.shape[0] - 1):
        start = offsets[text]
        stop = offsets[text + 1]
        windows = stop - start - n + 1
        if windows > 0:
            window = _first_window(hashes, start, n)
            _roll(hashes, start, stop, n, window, _power(n), keys[count : count + windows])
            count += windows


@njit(**KERNEL)
def _keys_at(hashes: np.ndarray, n: int, places: np.ndarray) -> np.ndarray:
    keys = np.empty(places.shape[0], np.uint64)
    for i in range(places.shape[0]):
        keys[i] = mix(_first_window(hashes, places[i], n))
    return keys


@njit(**KERNEL)
def _listed(key: np.uint64, grams: np.ndarray, directory: np.ndarray, shift: np.uint64) -> bool:
    page = np.int64(key >> shift)
    for place in range(np.int64(directory[page]), np.int64(directory[page + 1])):
        if grams[place] == key:
            return True
    return False


@njit(**KERNEL)
def _find(
    hashes: np.ndarray,
    offsets: np.ndarray,
    n: int,
    grams: np.ndarray,
    directory: np.ndarray,
    bitmap: np.ndarray,
    directory_shift: np.uint64,
    bitmap_shift: np.uint64,
    write: bool,
    found: np.ndarray,
    places: np.ndarray,
) -> None:
    """Count the occurrences in text i into `found[i + 1]`, or write where they begin.

    To write, `found` holds the sums of the counts; texts without an occurrence are passed over.
    """
    leaving = _power(n)
    # Keys are made a block at a time, apart from the lookups, whose branches cannot be predicted
    # and would hold the rolling hash up.
    block = np.empty(_BLOCK, np.uint64)
    for text in range(offsets.shape[0] - 1):
        stop = offsets[text + 1]
        last = stop - n
        if last < offsets[text] or (write and found[text] == found[text + 1]):
            continue
        first = found[text]
        count = 0
        window = _first_window(hashes, offsets[text], n)
        for begin in range(offsets[text], last + 1, _BLOCK):
            size = min(_BLOCK, last + 1 - begin)
            window = _roll(hashes, begin, stop, n, window, leaving, block[:size])
            for k in range(size):
                key = block[k]
                bit = key >> bitmap_shift
                if (bitmap[np.int64(bit >> _WORD_BITS)] >> (bit & _LOW_BITS)) & _ONE != _ONE:
                    continue
                if _listed(key, grams, directory, directory_shift):
                    if write:
                        places[first + count] = begin + k
                    count += 1
        if not write:
            found[text + 1] = count
