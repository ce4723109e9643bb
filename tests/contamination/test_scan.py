"""Hits in training text, and what is counted from them."""

import io
import json
from itertools import islice

import numpy as np
import pyarrow as pa
import pytest
import zstandard

from corpusclean.contamination.benchmarks import benchmark_items
from corpusclean.contamination.index import BenchmarkIndex, build_index
from corpusclean.contamination.scan import (
    HITS,
    common_grams,
    contaminated_benchmarks,
    find_hits,
    gram_document_counts,
    merge_gram_counts,
    seen_items,
)
from corpusclean.text.normalise import tokens

QUESTION = "how many apples does the farmer have left after selling nine of them on monday"
OTHER = "which of the following statements about the boiling point of water is true at sea level"
CHINESE = "小明有十二个苹果，他给了小红五个，现在还剩下几个？"
NOTHING = np.zeros(0, np.uint64)


@pytest.fixture(scope="module")
def index() -> BenchmarkIndex:
    return build_index(
        {
            "math": [("m1", QUESTION), ("m2", CHINESE)],
            "facts": [("f1", OTHER), ("f2", QUESTION + " morning"), ("f3", "short")],
        }
    )


def hits_of(texts: list[str], index: BenchmarkIndex) -> pa.Array:
    return find_hits(pa.array(texts, pa.large_string()), index)


def spans(text: str, index: BenchmarkIndex) -> list[str]:
    return [text[h["start"] : h["end"]] for h in hits_of([text], index)[0].as_py()]


def test_a_hit_covers_thirteen_words(index: BenchmarkIndex) -> None:
    words = QUESTION.split()
    text = f"Well,\n\n{QUESTION}? Nobody knows."
    assert spans(text, index) == [" ".join(words[i : i + 13]) for i in range(3)]


@pytest.mark.parametrize(
    "text",
    [
        QUESTION.upper(),
        QUESTION.replace(" ", " - "),
        QUESTION.replace(" ", "\r\n"),
        '"' + QUESTION.replace(" ", ", ") + '"!!',
        QUESTION.replace("a", "a\u0301"),
        QUESTION.replace("a", "ａ"),
        QUESTION.replace("apples", "app\u00adles"),
        QUESTION.replace(" ", " 👍 "),
    ],
)
def test_spelling_and_punctuation_do_not_hide_a_passage(text: str, index: BenchmarkIndex) -> None:
    assert len(spans(text, index)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "short",
        " ".join(QUESTION.split()[:12]),
        QUESTION.replace("them", "those"),
        " ".join(reversed(QUESTION.split())),
        "小明有十二个苹果，她给了小红五个",
    ],
)
def test_less_than_an_ngram_is_no_hit(text: str, index: BenchmarkIndex) -> None:
    assert spans(text, index) == []


def test_chinese_is_found_by_characters(index: BenchmarkIndex) -> None:
    found = spans("题目：" + CHINESE.replace("，", " ") + "答案是七。", index)
    assert found[0] == "小明有十二个苹果 他给了小红"
    assert len(found) == 22 - 13 + 1


def test_offsets_are_in_characters(index: BenchmarkIndex) -> None:
    text = "日本語😀e\u0301 " + QUESTION
    hit = hits_of([text], index)[0].as_py()[0]
    assert hit["start"] == 7
    assert text[hit["start"] :].startswith("how many")


def test_the_column(index: BenchmarkIndex) -> None:
    texts = pa.array(["none", QUESTION, None, OTHER], pa.string())
    found = find_hits(texts, index)
    assert found.type == HITS
    assert [len(row) for row in found.to_pylist()] == [0, 3, 0, 4]
    found.validate(full=True)
    assert find_hits(texts, index, tokens(texts)).equals(found)
    assert find_hits(texts.slice(1, 2), index).equals(found.slice(1, 2))
    assert find_hits(pa.array([], pa.large_string()), index).type == HITS


def test_benchmarks_of_a_document(index: BenchmarkIndex) -> None:
    hits = hits_of(["none", QUESTION, OTHER + " " + QUESTION, CHINESE], index)
    expected = [[], ["facts", "math"], ["facts", "math"], ["math"]]
    assert contaminated_benchmarks(hits, index, NOTHING).to_pylist() == expected
    assert contaminated_benchmarks(hits.slice(2), index, NOTHING).to_pylist() == expected[2:]
    chunked = pa.chunked_array([hits.slice(0, 1), hits.slice(1)])
    assert contaminated_benchmarks(chunked, index, NOTHING).to_pylist() == expected
    common = np.sort(hits_of([QUESTION], index).flatten().field("gram").to_numpy())
    assert contaminated_benchmarks(hits, index, common).to_pylist() == [[], [], ["facts"], ["math"]]
    empty = contaminated_benchmarks(hits.slice(0, 0), index, NOTHING)
    assert empty.to_pylist() == []


def test_seen_items(index: BenchmarkIndex) -> None:
    hits = hits_of([CHINESE, QUESTION + " morning"], index)
    grams, _ = gram_document_counts(hits, np.array([True, True]))
    seen = seen_items(grams, index, NOTHING)
    assert [i for i, s in zip(index.item_ids, seen, strict=True) if s] == ["f2", "m1", "m2"]
    assert not seen_items(grams, index, grams).any()
    assert not seen_items(NOTHING, index, NOTHING).any()


def test_a_gram_is_counted_once_a_document(index: BenchmarkIndex) -> None:
    texts = [QUESTION + " . " + QUESTION, QUESTION, "none", QUESTION]
    hits = hits_of(texts, index)
    grams, counts = gram_document_counts(hits, np.array([True, True, True, False]))
    assert counts.tolist() == [2, 2, 2]
    assert (grams[1:] > grams[:-1]).all()
    nothing = gram_document_counts(hits, np.zeros(4, bool))
    assert len(nothing[0]) == len(nothing[1]) == 0


def test_counts_of_parts_add_up(index: BenchmarkIndex) -> None:
    hits = hits_of([QUESTION, OTHER, OTHER + " " + QUESTION, "none", QUESTION], index)
    chosen = np.array([True, True, True, True, False])
    whole = gram_document_counts(hits, chosen)
    parts = [gram_document_counts(hits.slice(i, 1), chosen[i : i + 1]) for i in (3, 0, 4, 2, 1)]
    merged = merge_gram_counts(parts)
    np.testing.assert_array_equal(merged[0], whole[0])
    np.testing.assert_array_equal(merged[1], whole[1])
    assert [len(a) for a in merge_gram_counts([])] == [0, 0]


@pytest.mark.parametrize(("documents", "common"), [(10, False), (11, True)])
def test_grams_in_more_than_ten_documents_are_common(
    documents: int, common: bool, index: BenchmarkIndex
) -> None:
    hits = hits_of([QUESTION] * documents, index)
    counts = gram_document_counts(hits, np.ones(documents, bool))
    ignored = common_grams(counts)
    assert len(ignored) == (3 if common else 0)
    named = contaminated_benchmarks(hits, index, ignored).to_pylist()
    assert named == [[] if common else ["facts", "math"]] * documents


def test_real_benchmark_items_are_found_in_real_code(real_data) -> None:
    def records(path: str):
        with real_data(path).open("rb") as raw:
            stream = zstandard.ZstdDecompressor().stream_reader(raw)
            yield from map(json.loads, io.TextIOWrapper(stream, "utf-8"))

    items = benchmark_items(
        "humaneval", records("benchmarks/humaneval.jsonl.zst"), ["text", "answer"]
    )
    index = build_index({"humaneval": items})
    planted = [items[5][1], items[5][1].replace(" ", "\n - ")]
    texts = [record["text"] for record in islice(records("corpus/code.jsonl.zst"), 500)]
    named = contaminated_benchmarks(hits_of([*planted, *texts], index), index, NOTHING).to_pylist()
    assert named[:2] == [["humaneval"]] * 2
    assert sum(map(bool, named[2:])) < 50
