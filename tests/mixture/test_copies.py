import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import SupplyError
from corpusclean.mixture.copies import (
    BUCKETS,
    Threshold,
    choose_histogram,
    copies_of,
    crossing_bucket,
    exact_threshold,
    whole_copies,
)

TOP = 2**64 - 1


def arrays(documents):
    choose = np.array([d[0] for d in documents], np.uint64)
    uid = np.array([d[1] for d in documents], np.uint64).reshape(-1, 2)
    tokens = np.array([d[2] for d in documents], np.int64)
    return choose, uid, tokens


def find_threshold(parts, remainder):
    """The way of a stage: histograms of parts are added, then one bucket is collected."""
    total = sum((choose_histogram(c, t) for c, _, t in parts), np.zeros(BUCKETS, np.int64))
    bucket, before = crossing_bucket(total, remainder)
    picked = [(c, u, t, (c >> np.uint64(48)) == bucket) for c, u, t in parts]
    columns = [np.concatenate([p[i][p[3]] for p in picked]) for i in range(3)]
    return exact_threshold(*columns, remainder - before)


def naive_chosen(documents, remainder):
    """Indexes of the prefix by (choose, uid) that is nearest, by sorting everything."""
    order = sorted(range(len(documents)), key=lambda i: documents[i][:2])
    best, best_miss, total = 0, remainder, 0
    for count, i in enumerate(order, 1):
        total += documents[i][2]
        if abs(total - remainder) < best_miss:
            best, best_miss = count, abs(total - remainder)
    return set(order[:best])


@st.composite
def collections(draw):
    near = st.integers(0, 3)
    key = st.one_of(
        st.integers(0, TOP),
        st.builds(lambda bucket, low: (bucket << 48) + low, near, near),
        st.builds(lambda bucket, low: (bucket << 48) - 1 - low, st.integers(1, 3), near),
        st.just(TOP),
    )
    uid = st.tuples(st.one_of(near, st.just(TOP)), st.one_of(near, st.integers(0, TOP)))
    documents = draw(
        st.lists(
            st.tuples(key, uid, st.integers(1, 50)),
            min_size=1,
            max_size=40,
            unique_by=lambda d: d[1],
        )
    )
    return documents


@settings(deadline=None)
@given(collections(), st.data())
def test_chosen_documents_are_those_of_a_full_sort(documents, data):
    available = sum(d[2] for d in documents)
    target = data.draw(st.integers(0, 3 * available))
    whole, remainder = whole_copies(target, available)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(documents)), max_size=3)))
    bounds = [0, *cuts, len(documents)]
    parts = [arrays(documents[a:b]) for a, b in itertools.pairwise(bounds)]
    threshold = find_threshold(parts, remainder)
    chosen = naive_chosen(documents, remainder)
    choose, uid, tokens = arrays(documents)
    copies = copies_of(choose, uid, whole, threshold)
    assert copies.dtype == np.int64
    assert copies.tolist() == [whole + (i in chosen) for i in range(len(documents))]
    assert 2 * abs(int((copies * tokens).sum()) - target) <= tokens.max()


@settings(deadline=None)
@given(collections(), st.data())
def test_parts_and_their_order_do_not_matter(documents, data):
    shuffled = data.draw(st.permutations(documents))
    remainder = data.draw(st.integers(0, sum(d[2] for d in documents) - 1))
    parts = [arrays([d]) for d in shuffled]
    assert find_threshold(parts, remainder) == find_threshold([arrays(documents)], remainder)


@pytest.mark.parametrize(
    ("remainder", "taken"),
    [(0, 0), (5, 0), (6, 1), (10, 1), (20, 1), (21, 2), (30, 2), (34, 2), (35, 2), (36, 3)],
)
def test_the_nearest_prefix_and_at_a_tie_the_shorter(remainder, taken):
    documents = [(7 << 48, (0, 1), 10), (7 << 48, (0, 2), 20), (9 << 48, (0, 0), 10)]
    threshold = find_threshold([arrays(documents)], remainder)
    choose, uid, _ = arrays(documents)
    assert copies_of(choose, uid, 2, threshold).sum() == 6 + taken


def test_no_document_of_the_crossing_bucket_is_chosen():
    documents = [(5, (0, 0), 10), (9 << 48, (0, 1), 100)]
    threshold = find_threshold([arrays(documents)], 12)
    assert threshold == Threshold((9 << 48) - 1, (TOP, TOP))
    assert find_threshold([arrays(documents)], 3) is None


@pytest.mark.parametrize(
    ("tokens", "available", "expected"),
    [(0, 10, (0, 0)), (9, 10, (0, 9)), (10, 10, (1, 0)), (47, 10, (4, 7)), (0, 0, (0, 0))],
)
def test_whole_copies(tokens, available, expected):
    assert whole_copies(tokens, available) == expected


def test_more_than_there_is():
    with pytest.raises(SupplyError):
        whole_copies(1, 0)
    with pytest.raises(SupplyError):
        crossing_bucket(choose_histogram(*arrays([(1, (0, 0), 5)])[::2]), 6)


def test_no_documents():
    choose, uid, tokens = arrays([])
    assert choose_histogram(choose, tokens).sum() == 0
    assert exact_threshold(choose, uid, tokens, 0) is None
    assert copies_of(choose, uid, 1, None).shape == (0,)


def test_histograms_hold_large_sums():
    choose = np.full(3, TOP, np.uint64)
    tokens = np.array([2**50, 2**50 + 1, 1], np.int64)
    assert choose_histogram(choose, tokens)[BUCKETS - 1] == 2**51 + 2
