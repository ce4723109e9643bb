"""Who a document is, and the newlines of its text."""

import struct

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from corpusclean.text.arrow import string_buffers

__all__ = ["normalise_newlines", "uids"]

_CARRIAGE_RETURN = 13


def uids(source: str, ids: pa.Array, texts: pa.Array) -> pa.FixedSizeBinaryArray:
    """Return the uid of every document: xxh3-128, 16 bytes big-endian.

    Hashed are source, id and text as UTF-8, in this order, each after its length in bytes as u64
    little-endian; the text is as decoded, before newlines are normalised. A null counts as empty.
    """
    name = source.encode()
    begin = struct.pack("<Q", len(name)) + name
    id_bytes, id_offsets = _views(ids)
    text_bytes, text_offsets = _views(texts)
    digests = bytearray()
    for row in range(len(texts)):
        start, stop = text_offsets[row], text_offsets[row + 1]
        record_id = id_bytes[id_offsets[row] : id_offsets[row + 1]]
        head = (
            struct.pack("<Q", len(record_id)) + bytes(record_id) + struct.pack("<Q", stop - start)
        )
        digest = xxhash.xxh3_128(begin + head)
        digest.update(text_bytes[start:stop])
        digests += digest.digest()
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(16), len(texts), [None, pa.py_buffer(bytes(digests))]
    )


def _views(texts: pa.Array) -> tuple[memoryview, list[int]]:
    data, offsets = string_buffers(texts)
    return data.data, offsets.tolist()


def normalise_newlines(texts: pa.Array) -> pa.Array:
    """Return large_string texts with CR LF and lone CR as LF; nothing else changes."""
    texts = texts.cast(pa.large_string())
    data, offsets = string_buffers(texts)
    if not np.any(data[offsets[0] : offsets[-1]] == _CARRIAGE_RETURN):
        return texts
    return pc.replace_substring(pc.replace_substring(texts, "\r\n", "\n"), "\r", "\n")
