import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.errors import ShardError
from corpusclean.training import gpt_dataset_order
from corpusclean.training.gpt_dataset import GptIndices

LENGTHS = np.array([5, 12, 3, 20, 7, 9], np.int32)
ROWS = [(0, 0), (1, 5), (2, 1), (3, 0), (4, 3), (5, 4), (5, 12)]

GOLDEN = [
    pytest.param(
        5,
        [2, 1, 5, 0, 4, 3],
        ROWS,
        [0, 4, 3, 2, 5, 1],
        [
            [(2, 0, 3), (1, 0, 6)],
            [(4, 3, 7), (3, 0, 5)],
            [(0, 0, 5), (4, 0, 4)],
            [(5, 1, 9), (0, 0, 1)],
            [(3, 4, 13)],
        ],
        id="one epoch",
    ),
    pytest.param(
        9,
        [2, 1, 5, 0, 4, 3, 0, 4, 3, 2, 5, 1],
        [*ROWS, (6, 0), (7, 3), (8, 4), (8, 12), (9, 0), (10, 5), (11, 4)],
        [1, 0, 3, 2, 5, 4, 8, 9, 11, 7, 10, 12, 6],
        [
            [(1, 5, 12), (5, 0, 2)],
            [(2, 0, 3), (1, 0, 6)],
            [(0, 0, 5), (4, 0, 4)],
            [(5, 1, 9), (0, 0, 1)],
            [(3, 4, 13)],
            [(4, 3, 7), (3, 0, 5)],
        ],
        id="last epoch apart",
    ),
    pytest.param(
        13,
        [1, 2, 5, 2, 3, 4, 1, 0, 4, 5, 0, 3],
        [
            *((0, 0), (0, 8), (2, 1), (3, 0), (4, 5), (4, 13), (5, 1)),
            *((6, 2), (6, 10), (8, 1), (9, 2), (10, 1), (11, 4), (11, 12)),
        ],
        [7, 11, 2, 3, 1, 9, 5, 4, 0, 8, 6, 10, 12],
        [
            [(1, 2, 11)],
            [(0, 1, 5), (3, 0, 5)],
            [(5, 1, 9), (2, 0, 1)],
            [(2, 0, 3), (3, 0, 6)],
            [(1, 8, 12), (2, 0, 3), (5, 0, 2)],
            [(4, 1, 7), (5, 0, 3)],
        ],
        id="epochs together",
    ),
]


@pytest.mark.parametrize(("samples", "documents", "rows", "shuffled", "pieces"), GOLDEN)
def test_golden_orders(samples, documents, rows, shuffled, pieces):
    document_index, sample_index, shuffle_index = gpt_dataset_order(LENGTHS, 8, samples, 1234)
    assert document_index.tolist() == documents
    assert sample_index.tolist() == [list(row) for row in rows]
    assert shuffle_index.tolist() == shuffled
    assert (document_index.dtype, sample_index.dtype, shuffle_index.dtype) == (
        np.int32,
        np.int32,
        np.uint32,
    )
    indices = GptIndices(document_index, sample_index, shuffle_index, LENGTHS, 8)
    of, *columns = indices.pieces(np.arange(len(pieces)))
    found = [[] for _ in pieces]
    for i, *piece in zip(of, *columns, strict=True):
        found[i].append(tuple(map(int, piece)))
    assert found == pieces


def walked(lengths, documents, length, extra):
    """Cut the stream by walking it token by token, as the published algorithm does."""
    rows, place, offset = [(0, 0)], 0, 0
    total = sum(lengths[d] for d in documents)
    for _ in range((total - extra) // length):
        left = length + extra
        while left:
            here = lengths[documents[place]] - offset
            left -= here
            if left <= 0:
                offset += left + here - extra
                left = 0
            else:
                place, offset = place + 1, 0
        rows.append((place, offset))
    return rows


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=12),
    st.integers(1, 12),
    st.one_of(st.none(), st.integers(0, 60)),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_samples_as_a_walk_finds_them(lengths, length, samples, extra, seed):
    if sum(lengths) < length + extra:
        with pytest.raises(ShardError, match="expected at least"):
            gpt_dataset_order(np.array(lengths), length, samples, seed, extra)
        return
    documents, rows, shuffled = gpt_dataset_order(np.array(lengths), length, samples, seed, extra)
    epochs = len(documents) // len(lengths)
    assert sorted(documents.tolist()) == sorted(list(range(len(lengths))) * epochs)
    assert rows.tolist() == [list(r) for r in walked(lengths, documents.tolist(), length, extra)]
    assert sorted(shuffled.tolist()) == list(range(len(rows) - 1))
    assert len(shuffled) >= (samples or 0)
    pieces = GptIndices(documents, rows, shuffled, np.array(lengths), length, int(extra)).pieces(
        np.arange(len(shuffled))
    )
    tokens = np.bincount(pieces[0], pieces[3] - pieces[2], len(shuffled))
    assert (tokens == length + extra).all()


def test_another_seed_is_another_order():
    orders = [gpt_dataset_order(LENGTHS, 8, 5, seed)[0].tolist() for seed in (1234, 1235)]
    assert orders[0] != orders[1]


def test_a_sequence_at_a_sample_boundary_begins_in_the_sample_before():
    lengths = np.array([8, 8, 8])
    documents, rows, _ = gpt_dataset_order(lengths, 8, 2, 0)
    assert rows.tolist() == [[0, 0], [1, 0], [2, 0]]
    pieces = GptIndices(documents, rows, np.arange(2), lengths, 8).pieces(np.arange(2))
    # The first token of the second sequence is the label of the first sequence's last token.
    assert [list(map(int, piece)) for piece in zip(*pieces, strict=True)] == [
        [0, documents[0], 0, 8],
        [0, documents[1], 0, 1],
        [1, documents[1], 0, 8],
        [1, documents[2], 0, 1],
    ]


def test_a_million_sequences():
    lengths = np.full(1_000_000, 700, np.int32)
    documents, rows, shuffled = gpt_dataset_order(lengths, 2048, 341_000, 7)
    assert (len(documents), rows.shape, len(shuffled)) == (1_000_000, (341_797, 2), 341_796)
