"""The columns of the signature family, and the buckets made of them."""

import numpy as np
import pyarrow as pa
import pytest

from corpusclean.dedup.bands import band_keys
from corpusclean.dedup.signatures import Signer, signature_matrix
from corpusclean.errors import RecipeError
from corpusclean.text.normalise import tokens

SENTENCE = "the quick brown fox jumps over the lazy dog and runs away"


def signed(texts: list[str | None], **options: int) -> pa.RecordBatch:
    return Signer(**options).sign(pa.array(texts, pa.large_string()))


def test_the_columns_have_the_stated_types() -> None:
    batch = signed([SENTENCE, "too short"])
    assert batch.schema.field("signature").type == pa.binary(448)
    assert batch.schema.field("exact_hash").type == pa.binary(16)
    assert batch["signature"].is_valid().to_pylist() == [True, False]
    assert batch["exact_hash"].null_count == 0
    batch.validate(full=True)
    assert signed([SENTENCE], bands=3, rows=2).schema.field("signature").type == pa.binary(24)


def test_the_values_are_little_endian_and_the_hash_big_endian() -> None:
    batch = signed([SENTENCE])
    matrix, valid = signature_matrix(batch["signature"])
    assert valid.tolist() == [True]
    assert batch["signature"][0].as_py() == matrix[0].astype("<u4").tobytes()


@pytest.mark.parametrize("texts", [[], [""], ["", None], [".", "x"]])
def test_batches_without_a_signature(texts: list[str | None]) -> None:
    batch = signed(texts)
    assert len(batch) == len(texts)
    assert batch["signature"].null_count == len(texts)
    matrix, valid = signature_matrix(batch["signature"])
    assert matrix.shape == (len(texts), 112)
    assert not valid.any()


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("Hello,  World!\n", "hello, world!", True),
        ("Hello, World!", "hello world", False),
        ("x = a + b", "x = a - b", False),
        ("全角　ＡＢＣ", "全角 abc", True),
        ("soft\u00adhyphen", "softhyphen", True),
        ("a b\r\nc", "a b\nc\n", True),
        ("café", "CAFE\u0301", True),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8", True),
        ("", "", True),
        ("!!!", "!!!", True),
        ("!!!", "???", False),
        ("", "!", False),
        ("😀", "😃", False),
        ("ab c", "a bc", False),
        ("a b", "b a", False),
        ("a", "a a", False),
        ("version 1", "version 2", False),
        ("मैं हूँ", "मैं है", False),
        ("กิน", "กัน", False),
        ("中文字", "中文学", False),
    ],
)
def test_exact_hash(left: str, right: str, same: bool) -> None:
    hashes = signed([left, right])["exact_hash"].to_pylist()
    assert (hashes[0] == hashes[1]) is same
    assert hashes[0][:8] != hashes[0][8:]


def test_texts_that_differ_in_punctuation_have_one_signature() -> None:
    batch = signed([SENTENCE, SENTENCE.replace(" ", " - ").upper() + "."])
    assert batch["signature"][0] == batch["signature"][1]


@pytest.mark.parametrize(
    ("shingle", "characters"), [(1, 2), (2, 3), (3, 5), (5, 8), (8, 13), (10, 16), (13, 21)]
)
def test_character_shingles_are_longer(shingle: int, characters: int) -> None:
    assert Signer(shingle=shingle).widths == (shingle, characters)
    assert Signer(shingle=shingle, character_shingle=4).widths == (shingle, 4)


def test_chinese_pages_that_differ_in_a_word_are_alike() -> None:
    text = "".join(chr(0x4E00 + i * 7 % 5000) for i in range(600))
    matrix, _ = signature_matrix(signed([text, text[:300] + "新词" + text[302:]])["signature"])
    assert (matrix[0] == matrix[1]).mean() > 0.9


def test_the_result_does_not_depend_on_batch_or_stream() -> None:
    texts = [SENTENCE, "", "今天天气很好我们去公园散步吧", SENTENCE + " once more", "!"]
    whole = signed(texts)
    array = pa.array(["x", *texts], pa.string())
    sliced = array.slice(1)
    assert Signer().sign(sliced).equals(whole)
    assert Signer().sign(sliced, tokens(sliced)).equals(whole)
    assert Signer().sign(pa.chunked_array([texts[:2], texts[2:]])).equals(whole)
    for i, text in enumerate(texts):
        assert signed([text]).equals(whole.slice(i, 1))


def test_signature_matrix_of_slices_and_chunks() -> None:
    column = signed([SENTENCE, "no", SENTENCE + " end"])["signature"]
    matrix, valid = signature_matrix(column.slice(1))
    assert valid.tolist() == [False, True]
    whole, _ = signature_matrix(pa.chunked_array([column.slice(0, 1), column.slice(1)]))
    np.testing.assert_array_equal(matrix[1], whole[2])


@pytest.mark.parametrize("option", ["shingle", "bands", "rows", "character_shingle"])
def test_options_below_one_are_an_error(option: str) -> None:
    with pytest.raises(RecipeError, match=f"near.{option}: found 0"):
        Signer(**{option: 0})


def test_band_keys_meet_only_in_the_same_band() -> None:
    signatures = np.arange(24, dtype=np.uint32).reshape(2, 12)
    signatures[1, 4:8] = signatures[0, 4:8]
    keys = band_keys(signatures, 3, 4)
    assert (keys[0] == keys[1]).tolist() == [False, True, False]
    alike = band_keys(np.full((1, 12), 7, np.uint32), 3, 4)
    assert len(set(alike[0].tolist())) == 3
    assert band_keys(np.zeros((0, 12), np.uint32), 3, 4).shape == (0, 3)
    with pytest.raises(ValueError, match=r"expected \(n, 15\)"):
        band_keys(signatures, 3, 5)


def test_band_keys_of_planted_signatures_follow_the_curve() -> None:
    generator = np.random.default_rng(9)
    for similarity in (0.6, 0.7, 0.8, 0.9):
        left = generator.integers(0, 2**32, (4000, 112), np.uint32)
        equal = generator.random(left.shape) < similarity
        right = np.where(equal, left, generator.integers(0, 2**32, left.shape, np.uint32))
        meet = (band_keys(left, 14, 8) == band_keys(right, 14, 8)).any(axis=1).mean()
        assert abs(meet - (1 - (1 - similarity**8) ** 14)) < 0.03
