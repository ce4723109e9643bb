"""What an output folder says of its shards: the manifest, lengths of sequences, provenance.

Read by plain JSON, numpy and pyarrow, a shard at a time; nothing is needed but the manifest, the
.idx files and `provenance/`.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corpusclean import files
from corpusclean.errors import InputError, RecipeError, ShardError

__all__ = ["Output", "Pieces", "Shard", "load_output", "output_of"]

_HEADER = struct.Struct("<9sQBQQ")
_MAGIC = b"MMIDIDX\x00\x00"


@dataclass(frozen=True)
class Shard:
    """A shard that is trained on: `number` is its place in the manifest's list."""

    number: int
    path: str
    tokens: int
    provenance: str


@dataclass(frozen=True)
class Pieces:
    """The pieces that a shard is made of, int64[n] each, in the order of their tokens.

    `sequence` and `start` say where a piece begins, `tokens` how long it is.
    """

    sequence: np.ndarray
    start: np.ndarray
    tokens: np.ndarray


@dataclass(frozen=True)
class Output:
    """An output folder; `shards` are those of the split train, in manifest order."""

    directory: str
    manifest: dict[str, Any]
    shards: tuple[Shard, ...]

    @property
    def sequence_length(self) -> int:
        """Tokens of a sample, without the one that overlaps."""
        return int(self.manifest["sequence_length"])

    @property
    def seed(self) -> int:
        """The recipe's seed."""
        return int(self.manifest["seed"])

    @property
    def tokens(self) -> int:
        """Tokens of all training shards."""
        return sum(shard.tokens for shard in self.shards)

    def path(self, relative: str) -> str:
        """Return the path of a file named in the manifest."""
        return files.join(self.directory, relative)

    def require(self, sequence_length: int | None = None, seed: int | None = None) -> None:
        """Raise RecipeError if a training with these settings reads in another order."""
        asked = {"sequence_length": sequence_length, "seed": seed}
        for name, value in asked.items():
            found = self.manifest[name]
            if value is not None and value != found:
                shown = name.replace("_", " ")
                raise RecipeError(
                    f"{self.path('manifest.json')}: found {shown} {found}, asked for {value}; the "
                    f"order of samples depends on it, so what a step read cannot be told: name "
                    f"the output folder that was trained on, or leave --{name.replace('_', '-')} "
                    "out"
                )

    def lengths(self, shard: Shard) -> np.ndarray:
        """Return the lengths of a shard's sequences in tokens, int32[n], from its .idx."""
        path = self.path(shard.path + ".idx")
        try:
            with files.open_read(path) as file:
                head = file.read(_HEADER.size)
                magic, _, _, count, _ = _HEADER.unpack(head)
                data = file.read(4 * count) if magic == _MAGIC else b""
        except FileNotFoundError:
            raise ShardError(f"{path}: not found; run the recipe again") from None
        except struct.error:
            magic, data, count = b"", b"", 0
        lengths = np.frombuffer(data[: len(data) // 4 * 4], "<i4")
        if magic != _MAGIC or len(lengths) != count:
            raise ShardError(f"{path}: not a Megatron index, or cut short; run verify")
        found = int(lengths.sum(dtype=np.int64))
        if found != shard.tokens:
            raise ShardError(
                f"{path}: found {found:,} tokens, expected {shard.tokens:,} by the manifest; run "
                "verify"
            )
        return lengths

    def pieces(self, shard: Shard) -> Pieces:
        """Return where a shard's pieces begin, from its provenance."""
        names = ["sequence", "start", "tokens"]
        groups = [
            [table.column(name).to_numpy() for name in names]
            for _, table in self.provenance(shard, names)
        ]
        none = [np.empty(0, np.int64)] * 3
        columns = [np.concatenate(parts) for parts in zip(*groups, strict=True)] or none
        pieces = Pieces(*columns)
        found = int(pieces.tokens.sum())
        if found != shard.tokens:
            raise ShardError(
                f"{self.path(shard.provenance)}: found {found:,} tokens, expected "
                f"{shard.tokens:,} by the manifest; run verify"
            )
        return pieces

    def provenance(
        self, shard: Shard, columns: list[str], rows: np.ndarray | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Yield (first row, table) for each row group of a shard's provenance.

        With `rows`, sorted int64[n], only of the groups that hold one of them. Raises ShardError
        if the file is missing or no Parquet.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path(shard.provenance)
        try:
            with files.open_read(path) as raw:
                file = pq.ParquetFile(raw)
                first = 0
                for group in range(file.num_row_groups):
                    count = file.metadata.row_group(group).num_rows
                    low, high = (
                        (0, 1) if rows is None else np.searchsorted(rows, [first, first + count])
                    )
                    if low < high:
                        yield first, file.read_row_group(group, columns)
                    first += count
        except FileNotFoundError:
            raise ShardError(f"{path}: not found; run the recipe again") from None
        except (pa.ArrowException, KeyError) as error:
            raise ShardError(f"{path}: not the provenance of a shard: {error}") from None


def load_output(directory: str | Path) -> Output:
    """Read the manifest of an output folder. Raises InputError where there is none that fits."""
    path = files.join(directory, "manifest.json")
    try:
        manifest = json.loads(files.read_bytes(path))
    except FileNotFoundError:
        raise InputError(
            f"{path}: not found; expected the output folder of a finished run"
        ) from None
    except ValueError as error:
        raise InputError(f"{path}: not a manifest ({error}); run the recipe again") from None
    return output_of(directory, manifest)


def output_of(directory: str | Path, manifest: dict[str, Any]) -> Output:
    """Return an output folder by its manifest. Raises InputError for one that does not fit."""
    path = files.join(directory, "manifest.json")
    try:
        shards = tuple(
            Shard(number, said["path"], said["tokens"], said["provenance"]["path"])
            for number, said in enumerate(manifest["shards"])
            if said["split"] == "train"
        )
        int(manifest["sequence_length"]), int(manifest["seed"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a manifest ({error!r}); run the recipe again") from None
    if not shards:
        raise InputError(f"{path}: lists no shard to train on")
    return Output(str(directory), manifest, shards)
