"""Items of benchmarks, and the index that is made of them."""

from pathlib import Path

import numpy as np
import pytest

from corpusclean.contamination.benchmarks import benchmark_items
from corpusclean.contamination.index import BenchmarkIndex, build_index
from corpusclean.errors import InputError, RecipeError

QUESTION = "how many apples does the farmer have left after selling nine of them on monday"
OTHER = "which of the following statements about the boiling point of water is true at sea level"
BENCHMARKS = {
    "math": [("m2", QUESTION), ("m1", QUESTION + " morning"), ("m3", "forty two")],
    "facts": [("f1", OTHER), ("f2", QUESTION)],
}


def test_items_join_their_fields() -> None:
    records = [
        {"id": 7, "question": "Q?", "choices": ["a", "b"], "answer": {"text": "A"}},
        {"question": "R?", "choices": None, "answer": 3},
    ]
    assert benchmark_items("b", records, ["question", "choices", "answer"]) == [
        ("7", "Q?\na\nb\nA"),
        ("1", "R?\n3"),
    ]
    assert benchmark_items("b", records, ["question"], id_field="question")[0] == ("Q?", "Q?")


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "hold no record"),
        ([{"question": "x"}, {"id": 1}], "no record has the field 'qestion'.*did you mean"),
    ],
)
def test_unusable_benchmarks(records: list[dict[str, str]], message: str) -> None:
    with pytest.raises(RecipeError, match=f"benchmarks.gsm8k.*{message}"):
        benchmark_items("gsm8k", records, ["qestion"])


def test_what_the_index_holds() -> None:
    index = build_index(BENCHMARKS)
    assert index.benchmarks == ("facts", "math")
    assert index.item_ids == ("f1", "f2", "m1", "m2", "m3")
    assert index.items == {"facts": 2, "math": 3}
    assert index.uncheckable == {"facts": [], "math": ["m3"]}
    assert index.item_tokens.tolist() == [16, 15, 16, 15, 2]
    assert index.item_benchmark.tolist() == [0, 0, 1, 1, 1]
    grams = index.table.grams
    assert len(grams) == 4 + 3 + 1
    assert (np.diff(grams.astype(object)) > 0).all()
    holders = [
        index.gram_items[a:b].tolist()
        for a, b in zip(index.gram_offsets[:-1], index.gram_offsets[1:], strict=True)
    ]
    assert sorted(holders) == [[0]] * 4 + [[1, 2, 3]] * 3 + [[2]]
    place, item = index.gram_pairs(grams[::-1])
    assert [item[place == i].tolist() for i in range(len(grams))] == holders[::-1]


def test_the_index_does_not_depend_on_the_order_of_names_and_items() -> None:
    index = build_index(BENCHMARKS)
    other = build_index({name: BENCHMARKS[name][::-1] for name in ("facts", "math")})
    assert index.checksum == other.checksum
    assert index.item_ids == other.item_ids
    for name in ("gram_offsets", "gram_items", "item_tokens"):
        np.testing.assert_array_equal(getattr(index, name), getattr(other, name))


@pytest.mark.parametrize(
    "benchmarks",
    [
        {**BENCHMARKS, "math": BENCHMARKS["math"][:2]},
        {"facts": BENCHMARKS["facts"], "mathematics": BENCHMARKS["math"]},
        {"math": [*BENCHMARKS["math"], BENCHMARKS["facts"][0]], "facts": BENCHMARKS["facts"][1:]},
        {**BENCHMARKS, "facts": [("f1", OTHER + "?"), ("f2", QUESTION)]},
    ],
)
def test_the_checksum_is_that_of_the_content(benchmarks: dict) -> None:
    assert build_index(benchmarks).checksum != build_index(BENCHMARKS).checksum
    assert build_index(BENCHMARKS, ngram=12).checksum != build_index(BENCHMARKS).checksum


@pytest.mark.parametrize(
    ("benchmarks", "ngram", "message"),
    [
        ({}, 13, "at least one benchmark"),
        ({"empty": []}, 13, "none of its 0 items has 13 words"),
        ({"short": [("1", "too few words"), ("2", "! ? . , ; : - _ ( ) [ ] { }")]}, 13, "has 3"),
        (BENCHMARKS, 0, "ngram: found 0"),
    ],
)
def test_an_index_that_could_find_nothing(benchmarks: dict, ngram: int, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        build_index(benchmarks, ngram)


@pytest.mark.parametrize("mmap", [True, False])
def test_a_saved_index_is_the_same(tmp_path: Path, mmap: bool) -> None:
    index = build_index(BENCHMARKS)
    index.save(tmp_path / "index")
    loaded = BenchmarkIndex.load(tmp_path / "index", mmap=mmap)
    for name in ("ngram", "benchmarks", "item_ids", "checksum", "uncheckable"):
        assert getattr(loaded, name) == getattr(index, name)
    for name in ("grams", "directory", "bitmap"):
        np.testing.assert_array_equal(getattr(loaded.table, name), getattr(index.table, name))
    for name in ("item_offsets", "item_tokens", "gram_offsets", "gram_items"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(index, name))


def test_saving_twice_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        build_index(BENCHMARKS).save(tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_damaged_index_is_named(tmp_path: Path) -> None:
    build_index(BENCHMARKS).save(tmp_path)
    array = tmp_path / "gram_items.npy"
    data = bytearray(array.read_bytes())
    data[-1] ^= 1
    array.write_bytes(data)
    with pytest.raises(InputError, match=r"gram_items\.npy: damaged"):
        BenchmarkIndex.load(tmp_path)
    array.unlink()
    with pytest.raises(InputError, match=r"gram_items\.npy: missing"):
        BenchmarkIndex.load(tmp_path)
    description = tmp_path / "index.json"
    description.write_text(description.read_text().replace('"fold-', '"unfold-'))
    with pytest.raises(InputError, match="normalisation is 'unfold-1'"):
        BenchmarkIndex.load(tmp_path)
    description.write_text("{")
    with pytest.raises(InputError, match=r"index\.json: no readable benchmark index"):
        BenchmarkIndex.load(tmp_path)


def test_grams_of_another_index_are_an_error() -> None:
    index = build_index(BENCHMARKS)
    with pytest.raises(InputError, match="1 of 2 n-grams are not in this"):
        index.gram_pairs(np.array([index.table.grams[0], 12345], np.uint64))
