"""What the readers of all formats share: lengths first, then the ids, a block at a time.

Readers are for verification and for tools: they read local files and URLs alike, from front to
back, and say what is wrong with a file that was not written as its format wants.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np

from corpusclean import files
from corpusclean.errors import ShardError

__all__ = ["Damaged", "ShardReader"]

BLOCK = 1 << 24
"""The bytes that are read at once."""


class Damaged(ShardError):
    """A file of a shard is not as its format wants it."""

    def __init__(
        self, prefix: str, suffix: str, problem: str, expected: object, found: object
    ) -> None:
        super().__init__(f"{prefix}{suffix}: {problem}: expected {expected}, found {found}")
        self.suffix = suffix
        self.problem = problem
        self.expected = str(expected)
        self.found = str(found)


class ShardReader(ABC):
    """One shard, opened for reading from front to back.

    `prefix` is the path without ending, a local one or a URL; `dtype` the type in which the ids
    are stored; `suffixes` the shard's files, where a format does not always have the same ones.
    Every method raises Damaged for what cannot be, and OSError for what cannot be read.
    """

    def __init__(
        self, prefix: str | Path, dtype: np.dtype | str, suffixes: Sequence[str] = ()
    ) -> None:
        self.prefix = str(prefix)
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.suffixes = tuple(suffixes)

    @cached_property
    def lengths(self) -> np.ndarray:
        """The tokens of each sequence, int64[S], all of them at least 1."""
        return self._read_lengths()

    @property
    def documents(self) -> int:
        """How many documents the shard's index tells of."""
        return len(self.lengths)

    def sequences_by_file(self) -> Mapping[str, int]:
        """Return how many sequences each file holds, of a format that divides a shard."""
        return {}

    @abstractmethod
    def _read_lengths(self) -> np.ndarray:
        """Read `lengths`."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (suffix, ids) block after block: all ids in order, and the file they are in."""

    def sequences(self) -> Iterator[np.ndarray]:
        """Yield the ids of each sequence."""
        held = np.empty(0, self.dtype)
        source = self.blocks()
        for length in self.lengths.tolist():
            while len(held) < length:
                held = np.concatenate([held, next(source)[1]])
            yield held[:length]
            held = held[length:]

    def open(self, suffix: str) -> IO[bytes]:
        """Open a file of the shard."""
        return files.open_read(self.prefix + suffix)

    def content(self, suffix: str) -> bytes:
        """Return the whole content of a file of the shard."""
        with self.open(suffix) as file:
            return file.read()

    def positive(self, lengths: np.ndarray, suffix: str, what: str) -> None:
        """Raise Damaged if a length is below 1."""
        short = np.flatnonzero(lengths < 1)
        if len(short):
            at = int(short[0])
            raise Damaged(self.prefix, suffix, what.format(at), "at least 1", int(lengths[at]))

    def raw_blocks(self, suffix: str) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the blocks of a file that holds ids and nothing else.

        Raises Damaged, at the end, if there are not as many as the lengths say.
        """
        size, expected = 0, int(self.lengths.sum()) * self.dtype.itemsize
        with self.open(suffix) as file:
            while block := file.read(BLOCK - BLOCK % self.dtype.itemsize):
                size += len(block)
                if len(block) % self.dtype.itemsize or size > expected:
                    break
                yield suffix, np.frombuffer(block, self.dtype)
            if size < expected or file.read(1) or size > expected:
                found = f"{size} or more" if size > expected else size
                raise Damaged(self.prefix, suffix, "size in bytes", expected, found)
