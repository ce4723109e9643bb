"""The formats of shards that a recipe may ask for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corpusclean.errors import ShardError
from corpusclean.shards import columnar, mds, megatron, nanotron, olmo
from corpusclean.shards.info import ShardFile
from corpusclean.shards.reading import ShardReader
from corpusclean.shards.writer import ShardWriter

__all__ = ["FORMATS", "Format", "format_named"]

FolderIndex = Callable[[np.dtype | str, Sequence[tuple[str, Sequence[ShardFile]]]], str]


@dataclass(frozen=True)
class Format:
    """How a format is written and read back.

    `suffixes` are the endings of a shard's files in the order in which they are published, with
    `*` for the number where a shard has several of them. `dtype_for` chooses the type of ids for a
    vocabulary. `index` is the name of the file that describes all shards of a folder, None if the
    format has none, and `index_text` its text over (name without folder, files) of those shards.
    """

    name: str
    writer: type[ShardWriter]
    reader: type[ShardReader]
    suffixes: tuple[str, ...]
    dtype_for: Callable[[int], np.dtype]
    index: str | None = None
    index_text: FolderIndex | None = None

    def open(
        self, prefix: str | Path, dtype: np.dtype | str, suffixes: Sequence[str] | None = None
    ) -> ShardReader:
        """Return a reader of a shard; `suffixes` of its files where a shard may have several."""
        return self.reader(prefix, dtype, self.suffixes if suffixes is None else suffixes)

    def fits(self, suffixes: Sequence[str]) -> bool:
        """Tell whether a shard of this format can have files of these endings."""
        if "*" not in self.suffixes[0]:
            return tuple(suffixes) == self.suffixes
        numbered = (self.suffixes[0].replace("*", f"{i:05d}") for i in range(len(suffixes)))
        return tuple(suffixes) == tuple(numbered)


FORMATS = {
    made.name: made
    for made in (
        Format(
            "megatron",
            megatron.MegatronWriter,
            megatron.MegatronReader,
            megatron.SUFFIXES,
            megatron.dtype_for,
        ),
        Format(
            "mds",
            mds.MdsWriter,
            mds.MdsReader,
            (".*.mds",),
            mds.dtype_for,
            mds.INDEX,
            mds.index_text,
        ),
        Format(
            "nanotron",
            nanotron.NanotronWriter,
            nanotron.NanotronReader,
            nanotron.SUFFIXES,
            nanotron.dtype_for,
        ),
        Format("olmo", olmo.OlmoWriter, olmo.OlmoReader, olmo.SUFFIXES, olmo.dtype_for),
        Format(
            "parquet",
            columnar.ParquetWriter,
            columnar.ParquetReader,
            (".parquet",),
            columnar.dtype_for,
        ),
        Format(
            "arrow", columnar.ArrowWriter, columnar.ArrowReader, (".arrow",), columnar.dtype_for
        ),
    )
}


def format_named(name: str) -> Format:
    """Return a format; ShardError, naming those there are, for any other name."""
    if name not in FORMATS:
        raise ShardError(f"format {name!r}: expected one of {', '.join(FORMATS)}")
    return FORMATS[name]
