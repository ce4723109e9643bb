from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.shards.packing import Packing, pack_pieces


def pack(blocks, sequence_length):
    packing = Packing(sequence_length)
    found = []
    for ids, lengths in packing.packed((np.array(b), np.array([len(b)])) for b in blocks):
        assert lengths.tolist() == [sequence_length + 1] * (len(ids) // (sequence_length + 1))
        found += ids.reshape(-1, sequence_length + 1).tolist()
    return found, packing.dropped


@pytest.mark.parametrize(
    ("blocks", "sequences", "dropped"),
    [
        ([], [], 0),
        ([[1, 2]], [], 2),
        ([[1, 2, 3]], [[1, 2, 3]], 0),
        ([[1, 2], [3, 4]], [[1, 2, 3]], 1),
        ([[1, 2], [3, 4, 5, 6, 7, 8]], [[1, 2, 3], [4, 5, 6]], 2),
    ],
)
def test_sequences_have_one_token_more(blocks, sequences, dropped):
    assert pack(blocks, 2) == (sequences, dropped)


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=12)), st.integers(1, 7))
def test_nothing_is_lost_but_the_end(blocks, sequence_length):
    sequences, dropped = pack(blocks, sequence_length)
    stream = list(chain(*blocks))
    assert list(chain(*sequences)) == stream[: len(stream) - dropped]
    assert 0 <= dropped <= sequence_length
    assert pack([stream], sequence_length) == (sequences, dropped) if stream else not sequences


@given(st.lists(st.integers(1, 20)), st.integers(1, 7))
def test_pieces_are_found_where_packing_puts_them(tokens, sequence_length):
    ids = np.arange(sum(tokens))
    packed = pack_pieces(np.array(tokens, np.int64), sequence_length)
    sequences, dropped = pack(
        np.split(ids, np.cumsum(tokens)[:-1]) if tokens else [], sequence_length
    )
    assert packed.dropped == dropped
    begins = np.cumsum([0, *tokens])
    covered = 0
    for piece, offset, sequence, start, count in zip(
        packed.piece, packed.offset, packed.sequence, packed.start, packed.tokens, strict=True
    ):
        first = begins[piece] + offset
        assert count >= 1 and offset + count <= tokens[piece]
        assert sequences[sequence][start : start + count] == list(range(first, first + count))
        assert sequence * (sequence_length + 1) + start == covered
        covered += count
    assert covered == sum(tokens) - dropped


def test_a_buffer_may_be_used_again():
    packing, buffer = Packing(3), np.array([1, 2, 3])

    def blocks():
        for first in (1, 4):
            buffer[:] = range(first, first + 3)
            yield buffer, np.array([3])

    assert [ids.tolist() for ids, _ in packing.packed(blocks())] == [[1, 2, 3, 4]]
