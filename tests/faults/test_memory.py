"""A worker's memory stays under 1.5 GB, whatever the size of documents and input."""

import json
import random
from pathlib import Path

import pytest
from small_corpus import ENGLISH, recipe_text, write_tokenizer

from corpusclean.recipe import load_recipe
from corpusclean.stages.job import Job

LIMIT = 1_500_000_000
MEGABYTE = 1_000_000


def huge(kind: str) -> str:
    chooser = random.Random(3)
    if kind == "words":
        return " ".join(chooser.choices(ENGLISH, k=5 * MEGABYTE))
    if kind == "characters":
        return "".join(chooser.choices("天地玄黄宇宙洪荒日月盈昃辰宿列张", k=8 * MEGABYTE))
    return "?! " * (8 * MEGABYTE)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "characters", "signs"])
def test_a_document_of_24_megabytes(tmp_path: Path, kind: str):
    text = huge(kind)
    assert len(text.encode()) > 23 * MEGABYTE
    documents = [{"id": "huge", "text": text}, {"id": "small", "text": "a small one"}]
    with (tmp_path / "big.jsonl").open("w") as file:
        for document in documents:
            file.write(json.dumps(document, ensure_ascii=False) + "\n")
    (tmp_path / "quiz.jsonl").write_text(json.dumps({"id": 1, "text": " ".join(ENGLISH)}) + "\n")
    write_tokenizer(tmp_path / "tokenizer.json")
    recipe = recipe_text(
        sources={"big": {"input": "big.jsonl", "id": "id", "ratio": 1, "filters": ["anomalies"]}},
        decontaminate={"benchmarks": {"quiz": {"input": "quiz.jsonl", "fields": ["text"]}}},
    )
    (tmp_path / "recipe.yaml").write_text(recipe)
    job = Job(load_recipe(tmp_path / "recipe.yaml"), workers=1, quiet=True)
    result = job.run(until_stage="tokenize")
    assert result["ledger"]["sources"]["big"]["read"] == 2
    for stage in result["run"]["stages"].values():
        assert stage["peak_rss_bytes"] < LIMIT
