from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import ShardError
from corpusclean.shards.layout import plan_shards
from corpusclean.shards.stream import (
    BUCKETS,
    PartIndex,
    merge_pieces,
    position_histogram,
    select_bucket,
    select_range,
)

STEP = 0x9E3779B97F4A7C15
TOP = 2**64 - 1


class Part:
    """A token part: documents (key, uid, tokens, copies), in key order."""

    def __init__(self, documents):
        documents = sorted(documents)
        key = np.array([d[0] for d in documents], np.uint64)
        uid = np.array([d[1] for d in documents], np.uint64).reshape(-1, 2)
        self.index = PartIndex(key, uid, np.array([d[2] for d in documents], np.int32))
        self.copies = np.array([d[3] for d in documents], np.int64)
        self.most = int(self.copies.max(initial=0))

    def source(self):
        return self.index, self.copies.__getitem__, self.most


def plan(parts, shard_tokens):
    histogram = np.zeros(BUCKETS, np.int64)
    longest = 0
    for part in parts:
        histogram += position_histogram(part.index.key, part.index.tokens, part.copies)
        longest = max(longest, int(part.index.tokens[part.copies > 0].max(initial=0)))

    def refine(bucket):
        picked = [select_bucket(*part.source(), shard_tokens, bucket) for part in parts]
        return merge_pieces(picked)[0]

    return plan_shards(histogram, longest, shard_tokens, refine)


def written(parts, shards, shard_tokens):
    """For each shard the pieces (position, uid, copy, start, tokens) in the order written."""
    result = []
    for shard in shards:
        picked = [select_range(*part.source(), shard_tokens, shard) for part in parts]
        pieces, of = merge_pieces(picked)
        rows = [
            (int(p), (int(u[0]), int(u[1])), int(c), int(s), int(t))
            for p, u, c, s, t in zip(
                pieces.position, pieces.uid, pieces.copy, pieces.start, pieces.tokens, strict=True
            )
        ]
        for (_, uid, *_), part, row in zip(rows, of, pieces.row, strict=True):
            assert tuple(parts[part].index.uid[row].tolist()) == uid
        assert sum(row[4] for row in rows) == shard.tokens
        result.append(rows)
    return result


def naive_stream(documents, shard_tokens):
    copies = [
        ((key + n * STEP) % 2**64, uid, n, tokens)
        for key, uid, tokens, count in documents
        for n in range(count)
    ]
    return [
        (position, uid, n, start, min(shard_tokens, tokens - start))
        for position, uid, n, tokens in sorted(copies)
        for start in range(0, tokens, shard_tokens)
    ]


@st.composite
def collections(draw, longest=60, copies=3, fewest=1):
    near = st.integers(0, 3)
    key = st.one_of(
        st.integers(0, TOP),
        st.builds(lambda bucket, low: (bucket << 48) + low, near, near),
        # Copies of one document fall on another one's position.
        st.builds(lambda n: (3 - n * STEP) % 2**64, near),
        st.just(TOP),
    )
    uid = st.tuples(st.one_of(near, st.just(TOP)), st.one_of(near, st.integers(0, TOP)))
    return draw(
        st.lists(
            st.tuples(key, uid, st.integers(1, longest), st.integers(0, copies)),
            min_size=fewest,
            max_size=25,
            unique_by=lambda d: d[1],
        )
    )


def divided(documents, data):
    count = data.draw(st.integers(1, 4))
    places = data.draw(
        st.lists(st.integers(0, count - 1), min_size=len(documents), max_size=len(documents))
    )
    return [
        Part([d for d, p in zip(documents, places, strict=True) if p == i]) for i in range(count)
    ]


@settings(deadline=None, max_examples=100)
@given(collections(), st.integers(4, 80), st.data())
def test_every_piece_once_in_stream_order_and_no_shard_empty_or_too_large(
    documents, shard_tokens, data
):
    parts = divided(documents, data)
    shards = plan(parts, shard_tokens)
    rows = written(parts, shards, shard_tokens)
    assert [row for shard in rows for row in shard] == naive_stream(documents, shard_tokens)
    assert all(0 < shard.tokens <= shard_tokens for shard in shards)
    assert all(a.tokens + b.tokens > shard_tokens for a, b in pairwise(shards))
    assert plan([Part(documents)], shard_tokens) == shards


@settings(deadline=None, max_examples=100)
@given(collections(longest=10, fewest=12), st.integers(80, 400))
def test_shards_are_balanced_where_documents_are_short(documents, shard_tokens):
    shards = plan([Part(documents)], shard_tokens)
    sizes = [shard.tokens for shard in shards]
    assert max(sizes, default=0) <= 2 * min(sizes, default=0)
    total = sum(d[2] * d[3] for d in documents)
    assert -(-total // shard_tokens) <= len(shards) <= -(-total // (shard_tokens - 10))


def spread(lengths, copies=1):
    """Documents whose stream order is their order here."""
    step = 2**64 // len(lengths)
    return [(i * step, (0, i), tokens, copies) for i, tokens in enumerate(lengths)]


@pytest.mark.parametrize(
    ("lengths", "shard_tokens", "sizes"),
    [
        ([], 10, []),
        ([5], 10, [5]),
        # Three documents never fill eight shards.
        ([5, 5, 5], 2, [2, 2, 1, 2, 2, 1, 2, 2, 1]),
        ([2, 2, 2], 2, [2, 2, 2]),
        ([1, 1, 1], 10**9, [3]),
        # All that fits in one shard is one shard.
        ([3, 3, 4], 10, [10]),
        ([1] * 11, 10, [6, 5]),
        ([1] * 100, 10, [10] * 10),
        # A document alone above the bound is cut, the others are not.
        ([50], 10, [10] * 5),
        ([3, 25, 4], 10, [3, 10, 10, 9]),
        ([10, 1, 10, 1], 10, [10, 1, 10, 1]),
        ([6, 6, 6], 10, [6, 6, 6]),
        ([1] * 10 + [100] + [1] * 10, 100, [10, 100, 10]),
    ],
)
def test_sizes(lengths, shard_tokens, sizes):
    documents = spread(lengths) if lengths else []
    shards = plan([Part(documents)], shard_tokens)
    assert [shard.tokens for shard in shards] == sizes


def test_many_short_documents_fill_the_fewest_shards():
    documents = spread([7] * 1000)
    assert [s.tokens for s in plan([Part(documents)], 1000)] == [875] * 8
    assert len(plan([Part(documents)], 1001)) == 7


def test_copies_of_a_document_are_far_apart():
    rows = naive_stream(spread([1] * 50, copies=3), 10)
    parts = [Part(spread([1] * 50, copies=3))]
    assert [r for s in written(parts, plan(parts, 10), 10) for r in s] == rows
    places = [i for i, row in enumerate(rows) if row[1] == (0, 25)]
    assert min(b - a for a, b in pairwise(places)) > 20


def test_documents_with_one_position_are_ordered_by_uid_then_copy():
    shift = (5 + STEP) % 2**64
    documents = [(5, (9, 0), 3, 2), (shift, (1, 7), 3, 1), (shift, (1, 6), 3, 1), (5, (9, 1), 3, 1)]
    parts = [Part(documents[:2]), Part(documents[2:])]
    rows = written(parts, plan(parts, 3), 3)
    assert [(row[1], row[2]) for shard in rows for row in shard] == [
        ((9, 0), 0),
        ((9, 1), 0),
        ((1, 6), 0),
        ((1, 7), 0),
        ((9, 0), 1),
    ]


def test_documents_without_copies_or_tokens_leave_no_trace():
    parts = [Part([(1, (0, 1), 5, 0), (2, (0, 2), 0, 3), (3, (0, 3), 4, 1)]), Part([])]
    shards = plan(parts, 10)
    assert written(parts, shards, 10) == [[(3, (0, 3), 0, 0, 4)]]


def test_sources_may_differ_in_their_copies():
    many, few = Part(spread([2] * 5, copies=7)), Part([(9, (8, 8), 5, 1)])
    shards = plan([many, few], 6)
    assert sum(shard.tokens for shard in shards) == 75
    assert sum(map(len, written([many, few], shards, 6))) == 36


def test_an_index_that_changed_is_noticed():
    histogram = position_histogram(
        np.array([5], np.uint64), np.array([4], np.int64), np.array([1], np.int64)
    )
    other = Part([(5, (0, 0), 3, 1)])
    with pytest.raises(ShardError, match="holds 3 tokens, its histogram says 4"):
        plan_shards(histogram, 4, 10, lambda b: select_bucket(*other.source(), 10, b))


def test_merging_nothing():
    pieces, part = merge_pieces([])
    assert len(pieces) == len(part) == 0
