"""From texts to the stream of tokens that duplicates and contamination are found in.

One pass over the UTF-8 bytes of a batch folds every code point (see `corpusclean.text.folding`)
and hashes every token. The stream is computed once and shared: MinHash, the exact hash and the
lookup of benchmark n-grams all read it.

The hash of a token is the polynomial of `corpusclean.text.hashing` over its folded code points,
mixed, with bit 0 replaced: 1 for a character of a script without spaces, 0 for a word.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from corpusclean.text.arrow import string_buffers
from corpusclean.text.folding import (
    BLOCK_BITS,
    CHARACTER,
    DROP,
    KIND_SHIFT,
    MARK,
    SEPARATOR,
    SPELLED,
    fold_table,
)
from corpusclean.text.hashing import BASE, KERNEL, mix

__all__ = ["TokenStream", "read_only", "tokens"]

_BASE_2 = np.uint64(int(BASE) * int(BASE) % 2**64)
_ONE = np.uint64(1)
_KIND_BIT = ~np.uint64(1)
_BLOCK_MASK = (1 << BLOCK_BITS) - 1
_VALUE_MASK = (1 << KIND_SHIFT) - 1

_NONE = 0
_WORD = 1
_SINGLE = 2


@dataclass(frozen=True)
class TokenStream:
    """The tokens of a batch of texts.

    The tokens of text i are `[offsets[i], offsets[i + 1])` of the other arrays: `hashes` uint64,
    `starts` and `ends` int32, the half-open range of characters (code points) of the text that
    the token covers, with the marks and format characters after it.
    """

    hashes: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.offsets) - 1


def tokens(texts: pa.Array | pa.ChunkedArray) -> TokenStream:
    """Return the token stream of a string column; a null is the empty text.

    Memory is 16 bytes a token, and there are at most (bytes + 1) / 2 tokens in a text; room for
    as many is reserved, but what no token is written to stays untouched and costs nothing. A
    text has to be under 2 GiB.
    """
    data, text_offsets = string_buffers(texts)
    data, text_offsets = read_only(data), read_only(text_offsets)
    table = fold_table()
    bound = (int(text_offsets[-1] - text_offsets[0]) + len(text_offsets)) // 2
    hashes = np.empty(bound, np.uint64)
    starts = np.empty(bound, np.int32)
    ends = np.empty(bound, np.int32)
    offsets = np.zeros(len(text_offsets), np.int64)
    count = _fold(
        data,
        text_offsets,
        table.index,
        table.entries,
        table.spelling_offsets,
        table.spellings,
        table.ascii,
        hashes,
        starts,
        ends,
        offsets,
    )
    return TokenStream(
        read_only(hashes[:count]),
        read_only(starts[:count]),
        read_only(ends[:count]),
        read_only(offsets),
    )


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a plain view that cannot be written.

    Kernels are compiled once for each type of their arguments, and a writable array, a read-only
    one and a memory map are three types; inputs are therefore always handed over in this one.
    """
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


@njit(inline="always", **KERNEL)
def _close(h: np.uint64, state: int) -> np.uint64:
    """Return the hash of a finished token."""
    kind = _ONE if state == _SINGLE else np.uint64(0)
    return (mix(h) & _KIND_BIT) | kind


@njit(**KERNEL)
def _fold(
    data: np.ndarray,
    text_offsets: np.ndarray,
    index: np.ndarray,
    entries: np.ndarray,
    spelling_offsets: np.ndarray,
    spellings: np.ndarray,
    ascii_table: np.ndarray,
    hashes: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    token_offsets: np.ndarray,
) -> int:
    """Write the tokens of every text and where those of each text end; return their number."""
    count = 0
    for text in range(text_offsets.shape[0] - 1):
        i = text_offsets[text]
        stop = text_offsets[text + 1]
        position = 0  # in characters
        state = _NONE
        h = np.uint64(0)
        while i < stop:
            byte = data[i]
            if ascii_table[byte]:
                if state != _WORD:
                    if state == _SINGLE:
                        hashes[count] = _close(h, state)
                        ends[count] = position
                        count += 1
                    state = _WORD
                    starts[count] = position
                    h = np.uint64(0)
                begin = i
                while i + 1 < stop:
                    first = ascii_table[data[i]]
                    second = ascii_table[data[i + 1]]
                    if first == 0 or second == 0:
                        break
                    pair = (np.uint64(first) + _ONE) * BASE + np.uint64(second) + _ONE
                    h = h * _BASE_2 + pair
                    i += 2
                if i < stop and ascii_table[data[i]]:
                    h = h * BASE + np.uint64(ascii_table[data[i]]) + _ONE
                    i += 1
                position += i - begin
                continue
            if byte < 128:
                if state != _NONE:
                    hashes[count] = _close(h, state)
                    ends[count] = position
                    count += 1
                    state = _NONE
                i += 1
                position += 1
                continue
            if byte < 0xE0:
                code_point = (np.int64(byte) & 31) << 6 | (np.int64(data[i + 1]) & 63)
                i += 2
            elif byte < 0xF0:
                code_point = (
                    (np.int64(byte) & 15) << 12
                    | (np.int64(data[i + 1]) & 63) << 6
                    | (np.int64(data[i + 2]) & 63)
                )
                i += 3
            else:
                code_point = (
                    (np.int64(byte) & 7) << 18
                    | (np.int64(data[i + 1]) & 63) << 12
                    | (np.int64(data[i + 2]) & 63) << 6
                    | (np.int64(data[i + 3]) & 63)
                )
                i += 4
            block = np.int64(index[code_point >> BLOCK_BITS]) << BLOCK_BITS
            entry = np.int64(entries[block | (code_point & _BLOCK_MASK)])
            part = np.int64(0)
            parts = np.int64(0)
            if entry >> KIND_SHIFT == SPELLED:
                part = np.int64(spelling_offsets[entry & _VALUE_MASK])
                parts = np.int64(spelling_offsets[(entry & _VALUE_MASK) + 1])
                entry = np.int64(spellings[part])
            while True:
                kind = entry >> KIND_SHIFT
                if kind != DROP and (kind != MARK or state != _NONE):
                    folded = entry & _VALUE_MASK
                    if folded == 0:
                        folded = code_point
                    begins = kind == CHARACTER or (kind != MARK and state == _SINGLE)
                    if state != _NONE and (kind == SEPARATOR or begins):
                        # A token that began in this very character ends behind it.
                        hashes[count] = _close(h, state)
                        ends[count] = max(position, starts[count] + 1)
                        count += 1
                        state = _NONE
                    if kind != SEPARATOR:
                        if state == _NONE:
                            state = _SINGLE if kind == CHARACTER else _WORD
                            starts[count] = position
                            h = np.uint64(0)
                        h = h * BASE + np.uint64(folded) + _ONE
                part += 1
                if part >= parts:
                    break
                entry = np.int64(spellings[part])
            position += 1
        if state != _NONE:
            hashes[count] = _close(h, state)
            ends[count] = position
            count += 1
        token_offsets[text + 1] = count
    return count
