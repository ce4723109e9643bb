"""n-gram keys and their lookup, against plain Python."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.text.ngram_table import NgramTable, find_grams, gram_keys
from corpusclean.text.normalise import tokens

TEXT = st.lists(st.sampled_from(["a", "b", "c", "中", ",", "é"]), max_size=12).map(" ".join)


def naive_keys(hashes: list[int], n: int) -> list[int]:
    keys = []
    for i in range(len(hashes) - n + 1):
        h = 0
        for token in hashes[i : i + n]:
            h = (h * 0x9E3779B97F4A7C15 + token) % 2**64
        for multiplier in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            h = (h ^ h >> 33) * multiplier % 2**64
        keys.append(h ^ h >> 33)
    return keys


@settings(deadline=None)
@given(st.lists(TEXT, max_size=5), st.lists(TEXT, max_size=5), st.integers(1, 4))
def test_occurrences_are_those_of_the_plain_statement(
    known: list[str], texts: list[str], n: int
) -> None:
    keys, counts = gram_keys(tokens(pa.array(known, pa.large_string())), n)
    table = NgramTable.of(np.unique(keys))
    stream = tokens(pa.array(texts, pa.large_string()))
    found = find_grams(stream, n, table)
    assert counts.sum() == len(keys)
    for i in range(len(texts)):
        begin, end = stream.offsets[i : i + 2]
        mine = naive_keys([int(h) for h in stream.hashes[begin:end]], n)
        hits = [(k, begin + p) for p, k in enumerate(mine) if k in set(keys.tolist())]
        here = slice(*found.offsets[i : i + 2])
        assert found.grams[here].tolist() == [k for k, _ in hits]
        assert found.starts[here].tolist() == [stream.starts[p] for _, p in hits]
        assert found.ends[here].tolist() == [stream.ends[p + n - 1] for _, p in hits]


def test_keys_across_blocks() -> None:
    text = " ".join(str(i) for i in range(1000))
    stream = tokens(pa.array([text]))
    keys, counts = gram_keys(stream, 13)
    assert counts.tolist() == [988]
    assert keys.tolist() == naive_keys([int(h) for h in stream.hashes], 13)
    assert find_grams(stream, 13, NgramTable.of(np.sort(keys))).grams.tolist() == keys.tolist()


@pytest.mark.parametrize("size", [0, 1, 2, 3, 100, 1000])
def test_every_key_is_found_and_no_other(size: int) -> None:
    stream = tokens(pa.array([" ".join(str(i) for i in range(size + 50))]))
    keys, _ = gram_keys(stream, 1)
    table = NgramTable.of(np.sort(keys[:size]))
    assert find_grams(stream, 1, table).grams.tolist() == keys[:size].tolist()


def test_lowest_and_highest_keys() -> None:
    keys = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    table = NgramTable.of(keys)
    assert table.directory[0] == 0
    assert table.directory[-1] == 4
    assert (np.diff(table.directory.astype(np.int64)) >= 0).all()


def test_memory_of_a_table_is_under_twenty_bytes_a_key() -> None:
    keys = np.unique(np.random.default_rng(5).integers(0, 2**64, 300_000, np.uint64))
    table = NgramTable.of(keys)
    assert sum(a.nbytes for a in (table.grams, table.directory, table.bitmap)) < 20 * len(keys)
