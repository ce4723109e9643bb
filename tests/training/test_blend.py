import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.errors import ShardError
from corpusclean.training import blend, blend_order
from corpusclean.training.blend import blend_chunks, sizes_of

GOLDEN = [
    ((0.7, 0.2, 0.1), [0, 1, 0, 2, 0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 2, 3, 4, 1, 5, 6]),
    ((0.5, 0.3, 0.2), [0, 1, 2, 0, 1, 0, 2, 0, 1, 0, 0, 1], [0, 0, 0, 1, 1, 2, 1, 3, 2, 4, 5, 3]),
    ((1,), [0, 0, 0], [0, 1, 2]),
    # Even a weight of zero is drawn from when nothing lacks anything.
    ((0, 1), [1, 0], [0, 0]),
    ((1, 1), [], []),
]


@pytest.mark.parametrize(("weights", "datasets", "samples"), GOLDEN)
def test_golden_orders(weights, datasets, samples):
    found = blend_order(weights, len(datasets))
    assert [column.tolist() for column in found] == [datasets, samples]
    assert [column.dtype for column in found] == [np.int16, np.int64]


@pytest.mark.parametrize("weights", [[], [0, 0], [-1, 2], [float("nan")], np.ones(40_000)])
def test_impossible_weights_are_refused(weights):
    with pytest.raises(ShardError, match="weights"):
        blend_order(weights, 3)


WEIGHTS = st.lists(st.integers(1, 10**9), min_size=1, max_size=9)


@given(WEIGHTS, st.integers(0, 300))
def test_draws_are_those_of_the_greedy_rule(weights, size):
    share = np.array(weights, float) / np.sum(np.array(weights, float))
    drawn = np.zeros(len(weights))
    datasets, samples = blend_order(weights, size)
    for k in range(size):
        best = int(np.argmax(share * max(k, 1) - drawn))
        assert (datasets[k], samples[k]) == (best, drawn[best])
        drawn[best] += 1


@given(WEIGHTS, st.integers(1, 400))
def test_no_dataset_is_drawn_from_more_often_than_foreseen(weights, samples):
    sizes = sizes_of(weights, samples)
    drawn = np.bincount(blend_order(weights, sizes.size)[0], minlength=len(weights))
    assert (drawn <= sizes.most_drawn).all()
    assert sizes.size >= samples


def test_chunks_are_the_whole(monkeypatch):
    monkeypatch.setattr(blend, "_CHUNK", 7)
    whole = blend_order((3, 2, 5), 40)
    chunks = list(blend_chunks((3, 2, 5), 40))
    assert [first for first, *_ in chunks] == [0, 7, 14, 21, 28, 35]
    for i in (0, 1):
        assert np.concatenate([chunk[i + 1] for chunk in chunks]).tolist() == whole[i].tolist()
