"""Megatron's order as a training has left it: the index files in its cache folder.

A blend's `HASH-BlendedDataset-train-description.txt` names the datasets in their order, each with
what its own files are named after; beside it stand `dataset_index.npy` and
`dataset_sample_index.npy`, and for each GPTDataset `document_index.npy`, `sample_index.npy` and
`shuffle_index.npy`. They are mapped, not read whole. A cache with one GPTDataset and no blend is
an order too.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from corpusclean.errors import InputError, RecipeError
from corpusclean.training.data import Output, Shard
from corpusclean.training.gpt_dataset import GptIndices
from corpusclean.training.order import Slices, slices_of_shards

__all__ = ["CachedOrder"]

_INDENT = 4
"""As Megatron writes descriptions, whose MD5 names the files."""


class CachedOrder:
    """An order read from index files.

    `seed` is that of the training, if it is known. Raises InputError if the folder does not hold
    one order, RecipeError if that is of another seed or over other shards.
    """

    def __init__(self, output: Output, folder: str | Path, seed: int | None = None) -> None:
        self._output = output
        self._folder = Path(folder)
        blends = self._descriptions("BlendedDataset")
        said = blends or self._descriptions("GPTDataset")
        if len(said) != 1:
            kind = "blend" if blends else "GPTDataset"
            raise InputError(
                f"{folder}: found the indices of {len(said)} trainings (description files of a "
                f"{kind} of split train), expected those of one; copy its files into a folder of "
                "their own"
            )
        base, description = said[0]
        self._datasets: list[dict[str, Any]] = description["datasets"] if blends else [description]
        self._shards = tuple(self._shard(dataset) for dataset in self._datasets)
        output.require(self._datasets[0]["sequence_length"])
        made_with = self._datasets[0]["random_seed"]
        if seed is not None and seed != made_with:
            raise RecipeError(f"{folder}: found seed {made_with}, asked for {seed}")
        self._place: np.ndarray | None = None
        self._drawn: np.ndarray | None = None
        if blends:
            self._place = self._load(base, "dataset_index")
            self._drawn = self._load(base, "dataset_sample_index")
            self.samples = len(self._place)
        else:
            self.samples = len(self.indices(0).shuffle_index)

    def _descriptions(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        found = []
        for path in sorted(self._folder.glob(f"*-{kind}-train-description.txt")):
            try:
                found.append(
                    (path.name.removesuffix("-description.txt"), json.loads(path.read_text()))
                )
            except (OSError, ValueError) as error:
                raise InputError(f"{path}: not a description: {error}") from None
        return found

    def _shard(self, dataset: dict[str, Any]) -> Shard:
        """Return the shard that a dataset reads, by the name of its file."""
        name = str(dataset["dataset_path"]).rpartition("/")[2]
        for shard in self._output.shards:
            if shard.path.rpartition("/")[2] == name:
                return shard
        raise RecipeError(
            f"{self._folder}: its training read {dataset['dataset_path']}, which is no training "
            f"shard of {self._output.directory}; name the output folder that it read"
        )

    def _load(self, base: str, what: str) -> np.ndarray:
        path = self._folder / f"{base}-{what}.npy"
        try:
            array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: no readable index: {error}") from None
        return array

    def indices(self, place: int) -> GptIndices:
        """Return the indices of the GPTDataset of a shard, by its place in the blend."""
        dataset = self._datasets[place]
        text = json.dumps(dataset, indent=_INDENT)
        digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        base = f"{digest}-{dataset['class']}-train"
        names = ("document_index", "sample_index", "shuffle_index")
        document_index, sample_index, shuffle_index = (self._load(base, name) for name in names)
        lengths = self._output.lengths(self._shards[place])
        length = self._output.sequence_length
        return GptIndices(document_index, sample_index, shuffle_index, lengths, length)

    def slices(self, samples: np.ndarray) -> Slices:
        """Return what samples hold."""
        samples = np.asarray(samples, np.int64)
        place = np.zeros(len(samples), np.int64)
        drawn = samples
        if self._place is not None and self._drawn is not None:
            place, drawn = self._place[samples].astype(np.int64), self._drawn[samples]
        return slices_of_shards(self._shards, self.indices, samples, place, drawn)

    def holding(self, shard: Shard, sequence: int, start: int, stop: int) -> np.ndarray:
        """Return the samples that hold a token of a range."""
        if shard not in self._shards:
            return np.empty(0, np.int64)
        place = self._shards.index(shard)
        wanted = self.indices(place).holding(sequence, start, stop)
        if self._place is None or self._drawn is None:
            return wanted
        here = np.flatnonzero(self._place == place)
        return here[np.isin(self._drawn[here], wanted)]
