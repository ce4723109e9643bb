"""Which tokens each sample of a training holds, in each of the orders that a launcher may read.

- `OwnOrder`, the project's: the shards in manifest order are one stream, and sample i is its
  tokens [i·S, i·S + S], both ends included, across the ends of shards;
- `MegatronOrder`: a GPTDataset a shard, blended by the shards' tokens, as the files in
  `launcher/` have it, computed from the manifest and the .idx files;
- `CachedOrder` (in `cached`): the same from the index files that a training has left.

All answer with `Slices`, and the other way round with the samples that hold a range of tokens.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from corpusclean.errors import RecipeError
from corpusclean.training.blend import Sizes, blend_chunks, normalized
from corpusclean.training.data import Output, Shard
from corpusclean.training.gpt_dataset import (
    GptIndices,
    gpt_dataset_order,
    pieces_between,
    samples_holding,
)

__all__ = ["MegatronOrder", "Order", "OwnOrder", "Slices", "check_samples", "slices_of_shards"]


@dataclass(frozen=True)
class Slices:
    """Runs of tokens, int64[n] each, in the order of samples and of the tokens within each.

    `shard` is the place in the manifest's list, `sequence` the row of its .idx; `start` and
    `stop` are token offsets in that sequence.
    """

    sample: np.ndarray
    shard: np.ndarray
    sequence: np.ndarray
    start: np.ndarray
    stop: np.ndarray

    def __len__(self) -> int:
        return len(self.sample)

    @classmethod
    def joined(cls, parts: list["Slices"]) -> "Slices":
        """Return slices of several shards in the order of their samples."""
        names = list(cls.__dataclass_fields__)
        if not parts:
            return cls(*(np.empty(0, np.int64) for _ in names))
        whole = [np.concatenate([getattr(part, name) for part in parts]) for name in names]
        order = np.argsort(whole[0], kind="stable")
        return cls(*(column[order] for column in whole))


class Order(Protocol):
    """An order of samples over the shards of an output."""

    samples: int
    """How many samples it has."""

    def slices(self, samples: np.ndarray) -> Slices:
        """Return what samples hold; `samples` int64[n], sorted, below `self.samples`."""

    def holding(self, shard: Shard, sequence: int, start: int, stop: int) -> np.ndarray:
        """Return the samples that hold a token of a range, int64[n], sorted."""


class OwnOrder:
    """The project's own order; see the module."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._ends = np.cumsum([shard.tokens for shard in output.shards])
        self._length = output.sequence_length
        self.samples = max(0, (int(self._ends[-1]) - 1) // self._length)

    def slices(self, samples: np.ndarray) -> Slices:
        """Return what samples hold."""
        first = np.asarray(samples, np.int64) * self._length
        parts = []
        for shard, end in zip(self._output.shards, self._ends.tolist(), strict=True):
            begin = end - shard.tokens
            low = np.maximum(first, begin) - begin
            high = np.minimum(first + self._length + 1, end) - begin
            here = np.flatnonzero(low < high)
            if len(here):
                ends = np.cumsum(self._output.lengths(shard), dtype=np.int64)
                parts.append(_cut(shard, ends, samples[here], low[here], high[here]))
        return Slices.joined(parts)

    def holding(self, shard: Shard, sequence: int, start: int, stop: int) -> np.ndarray:
        """Return the samples that hold a token of a range."""
        place = self._output.shards.index(shard)
        lengths = self._output.lengths(shard)
        begin = int(self._ends[place]) - shard.tokens + int(lengths[:sequence].sum(dtype=np.int64))
        return samples_holding(begin + start, begin + stop, self._length, 1, self.samples)


def _cut(
    shard: Shard, ends: np.ndarray, samples: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Slices:
    """Cut token ranges of a shard, not empty, at the ends of its sequences."""
    lengths = np.diff(ends, prepend=0)
    first = np.searchsorted(ends, low, side="right")
    last = np.searchsorted(ends, high - 1, side="right")
    starts = ends - lengths
    of, sequence, start, stop = pieces_between(
        first, low - starts[first], last, high - starts[last]
    )
    stop = np.where(stop < 0, lengths[sequence], stop)
    return Slices(samples[of], np.full(len(of), shard.number), sequence, start, stop)


class MegatronOrder:
    """Megatron's order over all training shards, each weighed by its tokens; see the module.

    `training_samples` is `--train-samples`, on which the order depends, `seed` is `--seed`.
    `blended` is false where one shard is named without a weight and so read without a blend.
    """

    def __init__(
        self,
        output: Output,
        shards: tuple[Shard, ...],
        training_samples: int,
        seed: int,
        blended: bool = True,
    ) -> None:
        self._output = output
        self._shards = shards
        self._seed = seed
        self._weights = normalized([shard.tokens for shard in shards])
        sizes = Sizes(self._weights, training_samples)
        self._made = sizes.made if blended else [training_samples]
        self._blended = blended
        self.samples = training_samples
        self._size = sizes.size

    def indices(self, place: int) -> GptIndices:
        """Return the indices of the GPTDataset of a shard, by its place among the shards."""
        lengths = self._output.lengths(self._shards[place])
        length = self._output.sequence_length
        order = gpt_dataset_order(lengths, length, self._made[place], self._seed)
        return GptIndices(*order, lengths, length)

    def _draws(self, stop: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        if self._blended:
            return blend_chunks(self._weights, stop)
        return iter([(0, np.zeros(stop, np.int16), np.arange(stop))])

    def slices(self, samples: np.ndarray) -> Slices:
        """Return what samples hold."""
        samples = np.asarray(samples, np.int64)
        places, drawn = [], []
        for first, dataset_index, dataset_sample_index in self._draws(
            int(samples.max(initial=-1)) + 1
        ):
            low, high = np.searchsorted(samples, [first, first + len(dataset_index)])
            at = samples[low:high] - first
            places.append(dataset_index[at].astype(np.int64))
            drawn.append(dataset_sample_index[at])
        if not places:
            return Slices.joined([])
        return slices_of_shards(
            self._shards, self.indices, samples, np.concatenate(places), np.concatenate(drawn)
        )

    def holding(self, shard: Shard, sequence: int, start: int, stop: int) -> np.ndarray:
        """Return the samples that hold a token of a range."""
        if shard not in self._shards:
            return np.empty(0, np.int64)
        place = self._shards.index(shard)
        wanted = self.indices(place).holding(sequence, start, stop)
        found = []
        for first, dataset_index, dataset_sample_index in self._draws(self.samples):
            here = np.flatnonzero(dataset_index == place)
            found.append(first + here[np.isin(dataset_sample_index[here], wanted)])
        return np.concatenate(found)


def slices_of_shards(
    shards: tuple[Shard, ...],
    indices_of: Callable[[int], GptIndices],
    samples: np.ndarray,
    place: np.ndarray,
    drawn: np.ndarray,
) -> Slices:
    """Return what samples hold, given the dataset of each and the number drawn from it."""
    parts = []
    for i in np.unique(place).tolist():
        here = np.flatnonzero(place == i)
        of, sequence, start, stop = indices_of(i).pieces(drawn[here])
        number = np.full(len(of), shards[i].number)
        parts.append(Slices(samples[here][of], number, sequence, start, stop))
    return Slices.joined(parts)


def check_samples(order: Order, samples: range, what: str) -> None:
    """Raise RecipeError if an order has not so many samples."""
    if samples.stop > order.samples:
        raise RecipeError(
            f"{what} reads the samples {samples.start:,} to {samples.stop - 1:,}, but the order "
            f"has {order.samples:,}, numbered from 0"
        )
