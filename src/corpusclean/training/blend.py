"""The order in which Megatron-Core's BlendedDataset draws from several datasets.

Before sample k, each dataset lacks `weight · max(k, 1) - drawn` samples; the one that lacks most
is drawn from, the first of equals. Weights are divided by their sum first, as the class does.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numba import njit

from corpusclean.errors import ShardError

__all__ = ["SURPLUS", "Sizes", "blend_chunks", "blend_order", "normalized", "sizes_of"]

SURPLUS = 0.005
"""Megatron's mid-level surplus: the samples that each dataset makes above what is asked."""

_MOST_DATASETS = 2**15 - 1
_CHUNK = 1 << 20


def normalized(weights: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return weights, float64[n], divided by their sum. Raises ShardError for impossible ones."""
    values = np.array(weights, dtype=np.float64)
    if values.ndim != 1 or not 0 < len(values) <= _MOST_DATASETS:
        raise ShardError(f"found {values.size:,} weights, expected 1 to {_MOST_DATASETS:,}")
    if not np.isfinite(values).all() or (values < 0).any() or values.sum() <= 0:
        raise ShardError(f"found weights {values.tolist()}, expected numbers of at least 0")
    return values / values.sum()


@njit(nogil=True, cache=True, error_model="numpy")
def _draw(
    weights: np.ndarray,
    drawn: np.ndarray,
    first: int,
    dataset_index: np.ndarray,
    dataset_sample_index: np.ndarray,
) -> None:
    """Fill the arrays with the draws from number `first` on; `drawn` int64[n] is brought on."""
    for k in range(len(dataset_index)):
        at = float(max(first + k, 1))
        best = 0
        most = weights[0] * at - drawn[0]
        for i in range(1, len(weights)):
            lack = weights[i] * at - drawn[i]
            if lack > most:
                most = lack
                best = i
        dataset_index[k] = best
        dataset_sample_index[k] = drawn[best]
        drawn[best] += 1


def blend_order(weights: Sequence[float] | np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Megatron-Core's (dataset_index int16[size], dataset_sample_index int64[size])."""
    values = normalized(weights)
    dataset_index = np.zeros(size, np.int16)
    dataset_sample_index = np.zeros(size, np.int64)
    drawn = np.zeros(len(values), np.int64)
    _draw(values, drawn, 0, dataset_index, dataset_sample_index)
    return dataset_index, dataset_sample_index


def blend_chunks(
    weights: Sequence[float] | np.ndarray, stop: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield (first, dataset_index, dataset_sample_index) for the draws below `stop`, in chunks.

    The same as `blend_order`, in bounded memory.
    """
    values = normalized(weights)
    drawn = np.zeros(len(values), np.int64)
    for first in range(0, stop, _CHUNK):
        count = min(_CHUNK, stop - first)
        dataset_index = np.zeros(count, np.int16)
        dataset_sample_index = np.zeros(count, np.int64)
        _draw(values, drawn, first, dataset_index, dataset_sample_index)
        yield first, dataset_index, dataset_sample_index


class Sizes:
    """How many samples Megatron's builder makes for a blend: `asked`, `made`, `size`.

    `asked[i]` samples are drawn of dataset i, about; `made[i]` are asked of its GPTDataset;
    `size` is the length of the blend. `most_drawn[i]` is never exceeded by the draws of the whole
    blend: a dataset is drawn from only if it lacks something, so it is never ahead by more
    than one.
    """

    def __init__(self, weights: np.ndarray, samples: int, surplus: float = SURPLUS) -> None:
        self.asked = [math.ceil(samples * w) for w in weights.tolist()]
        self.made = [math.ceil(asked * (1 + surplus)) for asked in self.asked]
        self.size = sum(self.asked)
        at = max(self.size - 1, 1)
        self.most_drawn = [
            min(self.size, math.floor(w * at * (1 + 1e-12)) + 1) for w in weights.tolist()
        ]


def sizes_of(weights: Sequence[float] | np.ndarray, samples: int) -> Sizes:
    """Return the sizes for so many training samples over datasets with these weights."""
    return Sizes(normalized(weights), samples)
