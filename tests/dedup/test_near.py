"""The greedy kept set, against a quadratic statement of it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.dedup.bands import band_keys
from corpusclean.dedup.exact import first_in_group, key_halves
from corpusclean.dedup.near import NearDuplicates, keep_greedily, least_equal
from corpusclean.dedup.order import keep_order
from corpusclean.dedup.signatures import Signer, signature_matrix


def naive(pairs: list[tuple[int, int]], signatures: np.ndarray, similarity: float) -> list[int]:
    buckets: list[set[int]] = [set() for _ in signatures]
    for bucket, member in pairs:
        buckets[member].add(bucket)
    kept: list[int] = []
    duplicate_of = []
    for document in range(len(signatures)):
        first = -1
        for other in kept:
            alike = (signatures[document] == signatures[other]).sum() / signatures.shape[1]
            if first < 0 and buckets[document] & buckets[other] and alike >= similarity:
                first = other
        duplicate_of.append(first)
        if first < 0:
            kept.append(document)
    return duplicate_of


def keep(
    pairs: list[tuple[int, int]], signatures: np.ndarray, similarity: float = 0.75
) -> NearDuplicates:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return keep_greedily(both[:, 0], both[:, 1], signatures, similarity)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[tuple[int, int]], np.ndarray, float]:
    count = draw(st.integers(1, 12))
    width = draw(st.sampled_from([1, 4, 20]))
    values = draw(
        st.lists(
            st.lists(st.integers(0, 2), min_size=width, max_size=width),
            min_size=count,
            max_size=count,
        )
    )
    pair = st.tuples(st.sampled_from([-5, 0, 3, 2**62]), st.integers(0, count - 1))
    pairs = draw(st.lists(pair, max_size=30))
    return pairs, np.array(values, np.uint32), draw(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))


@settings(deadline=None, max_examples=400)
@given(cases())
def test_the_kept_set_is_that_of_the_plain_statement(
    case: tuple[list[tuple[int, int]], np.ndarray, float],
) -> None:
    pairs, signatures, similarity = case
    found = keep(pairs, signatures, similarity)
    assert found.duplicate_of.tolist() == naive(pairs, signatures, similarity)
    representative = np.where(
        found.duplicate_of < 0, np.arange(len(signatures)), found.duplicate_of
    )
    sizes = [int((representative == r).sum()) for r in representative]
    assert found.cluster_size.tolist() == sizes


@settings(deadline=None, max_examples=50)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_does_not_matter(case, random) -> None:
    pairs, signatures, similarity = case
    shuffled = list(pairs)
    random.shuffle(shuffled)
    left, right = keep(pairs, signatures, similarity), keep(shuffled, signatures, similarity)
    np.testing.assert_array_equal(left.duplicate_of, right.duplicate_of)


def test_nothing_to_compare() -> None:
    found = keep([], np.zeros((3, 4), np.uint32))
    assert found.duplicate_of.tolist() == [-1, -1, -1]
    assert found.cluster_size.tolist() == [1, 1, 1]
    assert len(keep([], np.zeros((0, 4), np.uint32)).duplicate_of) == 0
    # Equal signatures that share no bucket are not compared.
    assert keep([(0, 0), (1, 1)], np.zeros((2, 4), np.uint32)).duplicate_of.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("equal", "dropped"), [(83, False), (84, True), (85, True), (112, True), (0, False)]
)
def test_the_bound_of_similarity(equal: int, dropped: bool) -> None:
    signatures = np.zeros((2, 112), np.uint32)
    signatures[1, equal:] = 1
    expected = 0 if dropped else -1
    assert keep([(0, 0), (0, 1)], signatures).duplicate_of.tolist() == [-1, expected]


@pytest.mark.parametrize(
    ("width", "similarity", "expected"),
    [(112, 0.75, 84), (112, 0.8, 90), (100, 0.07, 7), (10, 0.0, 0), (10, 1.0, 10), (10, 1.01, 11)],
)
def test_least_equal(width: int, similarity: float, expected: int) -> None:
    assert least_equal(width, similarity) == expected


def test_two_families_in_one_bucket_leave_one_each() -> None:
    signatures = np.zeros((4, 112), np.uint32)
    signatures[2:, 8:] = 9
    signatures[1, :4] = 1
    signatures[3, :4] = 1
    found = keep([(0, document) for document in (3, 1, 0, 2)], signatures)
    assert found.duplicate_of.tolist() == [-1, 0, -1, 2]
    assert found.cluster_size.tolist() == [2, 2, 2, 2]


def test_a_chain_of_similar_documents_keeps_more_than_one() -> None:
    """Each text shares 85 % of its shingles with the next, and none with one far away."""
    words = [f"w{i}" for i in range(200 * 32 + 400)]
    texts = [" ".join(words[i * 32 : i * 32 + 404]) for i in range(201)]
    matrix, valid = signature_matrix(Signer().sign(pa.array(texts))["signature"])
    assert valid.all()
    keys = band_keys(matrix, 14, 8)
    found = keep_greedily(
        keys.view(np.int64).ravel(), np.repeat(np.arange(len(texts)), 14), matrix, 0.75
    )
    kept = np.flatnonzero(found.duplicate_of < 0)
    assert 50 < len(kept) < 201
    for document in np.flatnonzero(found.duplicate_of >= 0):
        other = found.duplicate_of[document]
        assert found.duplicate_of[other] == -1
        assert (matrix[document] == matrix[other]).mean() >= 0.75
        assert abs(document - other) <= 2


def survivors(texts: list[str], order: np.ndarray) -> list[str]:
    """Find what is kept of documents that are read in the given order."""
    read = [texts[i] for i in order]
    columns = Signer().sign(pa.array(read))
    length = np.array([len(text) for text in read])
    uid = np.stack([np.zeros(len(order), np.uint64), order.astype(np.uint64)], axis=1)
    place = keep_order(["longest"], np.zeros_like(length), length, uid)
    first = first_in_group(key_halves(columns["exact_hash"]), place)
    matrix, signed = signature_matrix(columns["signature"])
    unique = np.flatnonzero(first == np.arange(len(read)))
    rows = unique[signed[unique]]
    rows = rows[np.argsort(place[rows])]
    keys = band_keys(matrix[rows], 14, 8)
    found = keep_greedily(
        keys.view(np.int64).ravel(), np.repeat(np.arange(len(rows)), 14), matrix[rows], 0.75
    )
    kept = {*rows[found.duplicate_of < 0], *unique[~signed[unique]]}
    return sorted(read[row] for row in kept)


def test_survivors_do_not_depend_on_the_order_of_reading() -> None:
    generator = np.random.default_rng(4)
    texts = []
    for family in range(30):
        words = [f"f{family}w{i}" for i in range(120)]
        for member in range(4):
            changed = list(words)
            changed[int(generator.integers(120))] = f"m{member}"
            texts.append(" ".join(changed[: 120 - member]))
        texts.append(texts[-1].upper().replace(" ", ", "))
    texts += ["short", "Short!", "", "?"]
    first = survivors(texts, np.arange(len(texts)))
    # A family leaves one, or a second where an estimate falls short; two texts are punctuation.
    assert 33 <= len(first) <= 40
    for _ in range(5):
        assert survivors(texts, generator.permutation(len(texts))) == first


def test_fifty_thousand_identical_documents() -> None:
    count = 50_000
    signatures = np.repeat(np.arange(112, dtype=np.uint32)[None], count, axis=0)
    members = np.repeat(np.arange(count), 14)
    buckets = np.tile(np.arange(14), count)
    found = keep_greedily(buckets, members, signatures, 0.75)
    assert (found.duplicate_of[1:] == 0).all()
    assert (found.cluster_size == count).all()


def test_signatures_may_be_a_memory_map(tmp_path: Path) -> None:
    signatures = np.repeat(np.arange(8, dtype=np.uint32)[:, None] // 2, 112, axis=1)
    signatures.tofile(tmp_path / "signatures")
    mapped = np.memmap(tmp_path / "signatures", np.uint32, "r", shape=(8, 112))
    pairs = [(0, document) for document in range(8)]
    expected = keep(pairs, signatures).duplicate_of.tolist()
    assert keep(pairs, mapped).duplicate_of.tolist() == expected == [-1, 0, -1, 2, -1, 4, -1, 6]


def test_a_member_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match="there are 2 signatures"):
        keep([(0, 2)], np.zeros((2, 4), np.uint32))
