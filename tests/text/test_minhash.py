"""Permutations, and the quality of MinHash as an estimator."""

import numpy as np
import pyarrow as pa
import pytest

from corpusclean.text.minhash import permutations, sign_documents
from corpusclean.text.normalise import tokens

SIZE = 112


def sign(texts: list[str], word: int = 5, character: int = 8) -> tuple[np.ndarray, ...]:
    stream = tokens(pa.array(texts, pa.large_string()))
    signatures = np.zeros((len(texts), SIZE), np.uint32)
    shingles = np.zeros(len(texts), np.int64)
    sign_documents(
        stream.hashes, stream.offsets, word, character, *permutations(SIZE), signatures, shingles,
    )  # fmt: skip
    return signatures, shingles


def test_permutations_are_those_of_the_stated_formula() -> None:
    # The first outputs of splitmix64 seeded with 0, as published with the generator.
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]
    multipliers, addends = permutations(2)
    assert multipliers.tolist() == [published[0] >> 32 | 1, published[2] >> 32 | 1]
    assert addends.tolist() == [published[1] >> 32, published[3] >> 32]
    more = permutations(SIZE)
    assert more[0].dtype == more[1].dtype == np.uint32
    assert (more[0] & 1).all()
    assert len(set(more[0].tolist())) == SIZE
    np.testing.assert_array_equal(more[0][:2], multipliers)


def naive_signature(text: str, word: int, character: int) -> list[int]:
    """State the signature in plain Python, from the hashes of the tokens."""
    hashes = [int(h) for h in tokens(pa.array([text])).hashes]
    least = [2**32 - 1] * SIZE
    multipliers, addends = (p.tolist() for p in permutations(SIZE))
    for i, first in enumerate(hashes):
        width = character if first & 1 else word
        if i + width > len(hashes):
            continue
        h = 0
        for token in hashes[i : i + width]:
            h = (h * 0x9E3779B97F4A7C15 + token) % 2**64
        for multiplier in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            h = (h ^ h >> 33) * multiplier % 2**64
        x = (h ^ h >> 33) >> 32
        for k in range(SIZE):
            least[k] = min(least[k], (multipliers[k] * x + addends[k]) % 2**32)
    return least


@pytest.mark.parametrize(
    "text",
    [
        "one two three four five",
        "one two three four five six seven eight nine ten eleven",
        "一二三四五六七八九十百千万",
        "mixed 一二三四五六七八 text with 九 some words and 十百千万億兆京垓 at the end",
        " ".join(f"w{i}" for i in range(300)),
        "ไทยไม่มีช่องว่างระหว่างคำเลย",
    ],
)
def test_signatures_are_those_of_the_plain_statement(text: str) -> None:
    assert sign([text])[0][0].tolist() == naive_signature(text, 5, 8)


@pytest.mark.parametrize(
    ("text", "shingles"),
    [
        ("", 0),
        ("a b c d", 0),
        ("a b c d e", 1),
        ("a b c d e f", 2),
        ("一二三四五六七", 0),
        ("一二三四五六七八", 1),
        ("一二三四五六七八九", 2),
        ("一 b c d e", 0),
        ("a 二三四五", 1),
        ("a 二三四五六七八九", 2),
        ("... ... ... ... ... ...", 0),
    ],
)
def test_number_of_shingles(text: str, shingles: int) -> None:
    assert sign([text])[1].tolist() == [shingles]


def planted_pairs(similarity: float, pairs: int) -> tuple[list[str], np.ndarray]:
    """Return 2 * pairs texts of about 450 shingles, and the true similarity of each pair."""
    words = iter(range(10**9))
    size = 450
    shared = round(2 * size * similarity / (1 + similarity))
    texts, true = [], []
    for _ in range(pairs):
        common = [next(words) for _ in range(shared + 4)]
        both = [common + [next(words) for _ in range(size - shared)] for _ in range(2)]
        texts += [" ".join(map(str, numbers)) for numbers in both]
        sets = [{tuple(n[i : i + 5]) for i in range(len(n) - 4)} for n in both]
        true.append(len(sets[0] & sets[1]) / len(sets[0] | sets[1]))
    return texts, np.array(true)


@pytest.mark.parametrize("similarity", [0.5, 0.75, 0.85])
def test_the_error_is_within_a_tenth_of_the_ideal(similarity: float) -> None:
    texts, true = planted_pairs(similarity, 1000)
    signatures = sign(texts)[0]
    estimate = (signatures[::2] == signatures[1::2]).mean(axis=1)
    error = float(np.sqrt(np.mean((estimate - true) ** 2)))
    ideal = float(np.sqrt(np.mean(true * (1 - true)) / SIZE))
    assert abs(float(np.mean(estimate - true))) < 4 * ideal / np.sqrt(len(true))
    assert error < 1.1 * ideal


@pytest.mark.parametrize("similarity", [0.6, 0.75, 0.85])
def test_pairs_share_a_band_as_often_as_the_curve_says(similarity: float) -> None:
    texts, true = planted_pairs(similarity, 1000)
    bands = sign(texts)[0].reshape(-1, 14, 8)
    shared = (bands[::2] == bands[1::2]).all(axis=2).any(axis=1)
    expected = 1 - (1 - true**8) ** 14
    spread = np.sqrt(np.mean(expected * (1 - expected)) / len(true))
    assert abs(shared.mean() - expected.mean()) < 4 * spread


def test_datasketch_agrees_on_the_similarity_of_texts() -> None:
    datasketch = pytest.importorskip("datasketch")
    texts, true = planted_pairs(0.75, 60)
    estimates = []
    for text in texts:
        words = text.split()
        reference = datasketch.MinHash(num_perm=SIZE, seed=1)
        reference.update_batch([" ".join(words[i : i + 5]).encode() for i in range(len(words) - 4)])
        estimates.append(reference)
    theirs = np.array([a.jaccard(b) for a, b in zip(estimates[::2], estimates[1::2], strict=True)])
    signatures = sign(texts)[0]
    ours = (signatures[::2] == signatures[1::2]).mean(axis=1)
    ideal = np.sqrt(0.75 * 0.25 / SIZE / len(true))
    assert abs(theirs.mean() - ours.mean()) < 5 * ideal
