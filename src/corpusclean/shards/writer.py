"""What the writers of all formats share: the checks, and files that appear when all is well."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

import numpy as np

from corpusclean import files
from corpusclean.errors import ShardError
from corpusclean.shards.info import ShardFile, ShardInfo

__all__ = ["LONGEST", "ShardWriter", "smallest_unsigned"]

LONGEST = 2**31 - 1
"""The tokens of the longest document that a shard takes."""


def smallest_unsigned(vocabulary: int, *types: str) -> np.dtype:
    """Return the first of some unsigned types that holds every id of a vocabulary."""
    for name in types:
        if vocabulary - 1 <= np.iinfo(name).max:
            return np.dtype(name).newbyteorder("<")
    raise ShardError(f"a vocabulary of {vocabulary:,} ids; the format takes {' or '.join(types)}")


class ShardWriter(ABC):
    """Writes one shard; its files appear when the `with` block ends without an error.

    `path_prefix` is the path without ending, `dtype` the type in which ids are stored; ids of any
    other integer type are converted if they fit. What is held in memory has a limit of its own in
    every format, whatever the number of tokens.
    """

    types: ClassVar[tuple[str, ...]]
    """The types of ids that the format can store."""

    def __init__(self, path_prefix: str | Path, dtype: np.dtype | str) -> None:
        self.path = str(path_prefix)
        self.dtype = np.dtype(dtype).newbyteorder("<")
        if self.dtype.name not in self.types:
            raise ShardError(
                f"{self.path}: token ids are {self.dtype.name}; the format knows "
                f"{', '.join(self.types)}"
            )
        self._tokens = 0
        self._sequences = 0
        self._stack = contextlib.ExitStack()
        self._open_files: dict[str, files.PublishedFile] = {}
        self._published: list[ShardFile] = []
        self._info: ShardInfo | None = None

    def __enter__(self) -> Self:
        with self._stack:
            self._begin()
            self._stack = self._stack.pop_all()
        return self

    def add_document(self, ids: np.ndarray | Sequence[int]) -> None:
        """Append one document."""
        values = np.asarray(ids)
        self.add_documents(values, np.array([len(values)]))

    def add_documents(self, ids: np.ndarray, lengths: np.ndarray | Sequence[int]) -> None:
        """Append documents whose ids lie end to end in `ids`; `lengths` int[n], in tokens.

        Raises ShardError for a document without tokens, for one of 2**31 tokens or more, for
        lengths that do not sum to the ids, and for an id that the shard's type cannot hold.
        """
        sizes = np.asarray(lengths, np.int64)
        if len(sizes) == 0 and len(ids) == 0:
            return
        total = int(sizes.sum())
        if len(sizes) == 0 or sizes.min() < 1 or sizes.max() > LONGEST or total != len(ids):
            raise ShardError(
                f"{self.path}: found {len(sizes)} lengths of {sizes.min(initial=0)} to "
                f"{sizes.max(initial=0)} tokens for {len(ids)} ids, expected lengths from 1 to "
                f"{LONGEST} that sum to the ids"
            )
        self._append(np.ascontiguousarray(self._as_dtype(ids)), sizes)
        self._tokens += total
        self._sequences += len(sizes)

    def _as_dtype(self, ids: np.ndarray) -> np.ndarray:
        if ids.dtype == self.dtype:
            return ids
        low, high = int(ids.min()), int(ids.max())
        limits = np.iinfo(self.dtype)
        if ids.dtype.kind not in "iu" or low < limits.min or high > limits.max:
            raise ShardError(
                f"{self.path}: found ids of type {ids.dtype.name} from {low} to {high}, expected "
                f"{self.dtype.name}"
            )
        return ids.astype(self.dtype)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._stack.__exit__(kind, error, trace)
            self._abandon()
            return
        try:
            with self._stack:
                self._finish()
        except BaseException:
            self._abandon()
            raise
        self._info = ShardInfo(
            path=self.path,
            documents=self._sequences,
            sequences=self._sequences,
            tokens=self._tokens,
            files=self._written(),
        )

    @property
    def info(self) -> ShardInfo:
        """What was written; only after the `with` block."""
        if self._info is None:
            raise ShardError(f"{self.path}: the shard is not finished")
        return self._info

    def _open(self, *suffixes: str) -> list[files.PublishedFile]:
        """Open files that are published in the order of their suffixes when the block ends."""
        for suffix in reversed(suffixes):
            opened = self._stack.enter_context(files.publishing(self.path + suffix))
            self._open_files[suffix] = opened.with_sha256()
        return [self._open_files[suffix] for suffix in suffixes]

    def _written(self) -> tuple[ShardFile, ...]:
        """Return the files in the order in which they were published."""
        last = (
            ShardFile(suffix, file.bytes, file.sha256)
            for suffix, file in reversed(self._open_files.items())
        )
        return (*self._published, *last)

    @abstractmethod
    def _begin(self) -> None:
        """Open the files."""

    @abstractmethod
    def _append(self, ids: np.ndarray, sizes: np.ndarray) -> None:
        """Take ids of the shard's type, contiguous, and the lengths int64[n] of documents."""

    @abstractmethod
    def _finish(self) -> None:
        """Write what is left to write."""

    def _abandon(self) -> None:
        """Remove files that were published before the end, after an error."""
        for file in self._published:
            files.remove(self.path + file.suffix)

    def _check_size(self, suffix: str) -> None:
        """Raise ShardError if a file of raw ids does not hold all of them."""
        file = self._open_files[suffix]
        if file.bytes != self._tokens * self.dtype.itemsize:
            raise ShardError(
                f"{self.path}{suffix}: wrote {file.bytes} bytes, expected {self._tokens} tokens of "
                f"{self.dtype.itemsize} bytes"
            )
