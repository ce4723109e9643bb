"""The keep order and groups of equal keys."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.dedup.exact import first_in_group, key_halves
from corpusclean.dedup.order import keep_order
from corpusclean.errors import RecipeError

SOURCE = np.array([1, 0, 0, 1, 0])
LENGTH = np.array([90, 10, 30, 90, 30])
UID = np.array([[2, 0], [9, 0], [5, 7], [1, 2**63], [5, 6]], np.uint64)


@pytest.mark.parametrize(
    ("policies", "rows"),
    [
        (["source_order", "longest"], [4, 2, 1, 3, 0]),
        (["longest", "source_order"], [3, 0, 4, 2, 1]),
        (["longest"], [3, 0, 4, 2, 1]),
        (["source_order"], [4, 2, 1, 3, 0]),
        ([], [3, 0, 4, 2, 1]),
    ],
)
def test_the_policies_decide_in_the_order_listed(policies: list[str], rows: list[int]) -> None:
    places = keep_order(policies, SOURCE, LENGTH, UID)
    assert np.argsort(places).tolist() == rows


def test_the_order_of_the_input_does_not_matter() -> None:
    places = keep_order(["source_order", "longest"], SOURCE, LENGTH, UID)
    shuffled = np.array([3, 1, 4, 0, 2])
    again = keep_order(
        ["source_order", "longest"], SOURCE[shuffled], LENGTH[shuffled], UID[shuffled]
    )
    assert again.tolist() == places[shuffled].tolist()


def test_no_documents() -> None:
    nothing = np.zeros(0, np.int64)
    assert len(keep_order(["longest"], nothing, nothing, np.zeros((0, 2), np.uint64))) == 0


def test_an_unknown_policy_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(RecipeError, match=r"found 'longst'.*did you mean 'longest'"):
        keep_order(["longst"], SOURCE, LENGTH, UID)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=20), st.randoms())
def test_the_first_of_a_group_is_the_one_of_lowest_rank(keys, random) -> None:
    ranks = list(range(len(keys)))
    random.shuffle(ranks)
    found = first_in_group(
        np.array(keys, np.uint64).reshape(-1, 2), np.array(ranks, dtype=np.int64)
    )
    for row, key in enumerate(keys):
        group = [other for other in range(len(keys)) if keys[other] == key]
        assert found[row] == min(group, key=lambda other: ranks[other])


def test_key_halves_keep_the_order_of_the_bytes() -> None:
    keys = [bytes([0] * 15 + [1]), bytes([0] * 7 + [1] + [0] * 8), bytes([255] * 16)]
    column = pa.array([b"x" * 16, *keys], pa.binary(16))
    assert key_halves(column.slice(1)).tolist() == [[0, 1], [1, 0], [2**64 - 1] * 2]
    assert key_halves(pa.chunked_array([column.slice(1, 1), column.slice(2)])).shape == (3, 2)
    assert key_halves(pa.array([], pa.binary(16))).shape == (0, 2)
