"""Arrow string columns as the plain buffers that kernels read."""

import numpy as np
import pyarrow as pa

__all__ = ["string_buffers"]


def string_buffers(texts: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the UTF-8 bytes of a string column and where each text lies in them.

    Returns `(data, offsets)`: `data` uint8, `offsets` int64 of n + 1; text i is the half-open
    byte range `[offsets[i], offsets[i + 1])`. A large_string array without nulls is not copied.
    A null counts as the empty text. The text must be valid UTF-8: kernels do not check it.
    """
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
        if isinstance(texts, pa.ChunkedArray):
            texts = pa.concat_arrays(texts.chunks) if texts.chunks else pa.array([], texts.type)
    if texts.type != pa.large_string():
        texts = texts.cast(pa.large_string())
    if texts.null_count:
        texts = texts.fill_null("")
    if len(texts) == 0:
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if data is None or data.size == 0:
        return np.zeros(0, np.uint8), starts
    return np.frombuffer(data, np.uint8), starts
