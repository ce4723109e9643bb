"""Nanotron's and datatrove's tokenized files: `.ds`, `.ds.index` and `.ds.metadata`.

| file | content |
|---|---|
| NAME.ds | ids end to end, u16, or u32 for a vocabulary above 65536, little-endian |
| NAME.ds.index | u64 for each document: the token after its last one |
| NAME.ds.metadata | text: `tokenizer\\|bytes of an id`, number of tokens, the same for people |

Nanotron reads windows of its sequence length + 1 from each file and drops what is left at its end.
Nothing is kept in memory.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from corpusclean.shards.reading import Damaged, ShardReader
from corpusclean.shards.writer import ShardWriter, smallest_unsigned

__all__ = ["NanotronReader", "NanotronWriter", "dtype_for", "metadata_text"]

SUFFIXES = (".ds", ".ds.index", ".ds.metadata")
_PREFIXES = ("", "k", "M", "G", "T", "P", "E")


def dtype_for(vocabulary: int) -> np.dtype:
    """Return the type of ids that nanotron reads for a vocabulary, added tokens included."""
    return smallest_unsigned(vocabulary, "uint16", "uint32")


def metadata_text(tokenizer: str, itemsize: int, tokens: int) -> str:
    """Return the text of `.ds.metadata`."""
    exponent = math.floor(math.log10(tokens)) if tokens else 0
    value = f"{tokens / 10 ** (exponent // 3 * 3):.{2 - exponent % 3}f}"
    return f"{tokenizer}|{itemsize}\n{tokens}\n{value} {_PREFIXES[exponent // 3]}T"


class NanotronWriter(ShardWriter):
    """Writes one shard; `tokenizer` is the name that its metadata give."""

    types = ("uint16", "uint32")

    def __init__(
        self,
        path_prefix: str | Path,
        dtype: np.dtype | str,
        tokenizer: str = "Unknown Tokenizer",
    ) -> None:
        super().__init__(path_prefix, dtype)
        self._tokenizer = tokenizer

    def _begin(self) -> None:
        self._ds, self._index, self._metadata = self._open(*SUFFIXES)

    def _append(self, ids: np.ndarray, sizes: np.ndarray) -> None:
        self._ds.write(ids.view(np.uint8))
        self._index.write((self._tokens + np.cumsum(sizes)).astype("<u8").view(np.uint8))

    def _finish(self) -> None:
        self._check_size(".ds")
        text = metadata_text(self._tokenizer, self.dtype.itemsize, self._tokens)
        self._metadata.write(text.encode())


class NanotronReader(ShardReader):
    """Reads a shard that `NanotronWriter` or datatrove wrote."""

    def _read_lengths(self) -> np.ndarray:
        content = self.content(".ds.index")
        if len(content) % 8:
            raise Damaged(self.prefix, ".ds.index", "size in bytes", "8 a document", len(content))
        ends = np.frombuffer(content, "<u8")
        lengths = np.diff(ends.astype(np.int64), prepend=0)
        self.positive(lengths, ".ds.index", "tokens of document {}")
        return lengths

    def blocks(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (suffix, ids) block after block."""
        line = self.content(".ds.metadata").split(b"\n")
        expected = f"{int(self.lengths.sum())}, ids of {self.dtype.itemsize} bytes"
        itemsize = line[0].rpartition(b"|")[2]
        found = f"{(line[1:2] or [b''])[0].decode('utf-8', 'replace')}, ids of "
        found += f"{itemsize.decode('utf-8', 'replace')} bytes"
        if found != expected:
            raise Damaged(self.prefix, ".ds.metadata", "tokens", expected, found)
        yield from self.raw_blocks(".ds")
