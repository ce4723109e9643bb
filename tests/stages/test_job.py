"""Whole runs on a small corpus: balance, same bytes, reuse."""

import json
import os
import random
from pathlib import Path

import pytest
from outputs import same_bytes
from small_corpus import english, lines, recipe_text, write_corpus, write_tokenizer

from corpusclean.errors import (
    EngineError,
    InputError,
    RecipeError,
    ShardError,
    SupplyError,
)
from corpusclean.recipe import load_recipe
from corpusclean.shards.verify import verify_output
from corpusclean.stages.job import Job


def run(folder: Path, workers: int = 1, until: str | None = None, **changes):
    path = folder / "recipe.yaml"
    path.write_text(recipe_text(**changes))
    return Job(load_recipe(path), workers=workers, quiet=True).run(until_stage=until)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder)
    write_tokenizer(folder / "tokenizer.json")
    return folder


@pytest.fixture(scope="module")
def first(corpus):
    """The first run; later tests look at it or run again over it."""
    return run(corpus, workers=2)


def reused(result) -> dict[str, bool]:
    stages = result["run"]["stages"]
    return {name: stage["parts"] == stage["parts_reused"] for name, stage in stages.items()}


def test_ledger_balances_and_names_reasons(first):
    sources = first["ledger"]["sources"]
    en = sources["en"]
    assert en["read"] == 40 + 2 + 5
    assert en["blank"] == 1
    assert sum(en["quarantined"].values()) == 5
    assert en["dropped"]["gopher_quality.too_few_words"] == 2
    assert en["dropped"]["duplicate.exact"] == 1
    assert en["dropped"]["duplicate.near"] == 1
    assert en["cuts"]["contamination.quiz"] == 2
    assert sources["asia"]["read"] == sources["asia"]["kept"] == 40
    for entry in sources.values():
        gone = sum(entry["dropped"].values()) + sum(entry["quarantined"].values())
        assert entry["read"] == entry["kept"] + gone
        assert entry["kept"] == entry["emitted"] + entry["unused"]


def test_output_verifies(corpus, first):
    report = verify_output(corpus / "out")
    assert report.problems == []
    assert report.ok


def test_emitted_tokens_follow_the_plan(first):
    manifest = first["manifest"]
    assert sum(s["tokens"] for s in manifest["shards"]) == manifest["tokens"]["emitted"]
    assert abs(manifest["tokens"]["emitted"] - 20000) < 3 * 1500
    assert len(manifest["shards"]) >= 3


def test_a_second_run_does_nothing(corpus, first):
    before = same_bytes(corpus / "out")
    again = run(corpus)
    assert all(reused(again).values())
    assert same_bytes(corpus / "out") == before
    assert again["ledger"] == first["ledger"]


def test_same_bytes_with_other_workers_files_and_order(corpus, first, tmp_path):
    expected = same_bytes(corpus / "out")
    for name in ("asia.jsonl.gz", "code.jsonl.zst", "benchmark.jsonl", "tokenizer.json"):
        (tmp_path / name).write_bytes((corpus / name).read_bytes())
    records = (corpus / "en.jsonl").read_bytes().splitlines(keepends=True)
    random.Random(4).shuffle(records)
    for i in range(3):
        (tmp_path / f"en-{2 - i}.jsonl").write_bytes(b"".join(records[i::3]))
    run(tmp_path, workers=1)
    assert same_bytes(tmp_path / "out") == expected


def test_a_threshold_changes_without_reading_text_again(corpus, first):
    filters = {"gopher_quality": {"too_few_words": "words < 2"}}
    changed = run(corpus, filters=filters)
    assert reused(changed)["measure"]
    assert not reused(changed)["select"]
    assert changed["ledger"]["sources"]["en"]["dropped"]["gopher_quality.too_few_words"] == 1
    assert verify_output(corpus / "out").ok


def test_a_budget_changes_without_tokenizing_again(corpus, first):
    run(corpus)
    changed = run(corpus, budget={"tokens": 9000})
    assert [name for name, all_reused in reused(changed).items() if not all_reused] == ["mix"]
    assert changed["manifest"]["tokens"]["budget"] == 9000
    assert verify_output(corpus / "out").ok


@pytest.mark.parametrize("format", ["mds", "nanotron", "olmo", "parquet", "arrow"])
def test_other_formats_take_the_same_token_parts(corpus, first, format):
    output = {"directory": "out", "shard_tokens": 6000, "format": format}
    changed = run(corpus, output=output)
    assert [name for name, all_reused in reused(changed).items() if not all_reused] == ["mix"]
    assert changed["manifest"]["format"] == format
    assert verify_output(corpus / "out").problems == []
    assert not list((corpus / "out" / "shards").glob("*.bin"))


@pytest.mark.parametrize(
    ("pattern", "made_anew"),
    [
        ("measure/parts/en-*/text.parquet", "tokenize"),
        ("measure/parts/en-*/signals.parquet", "select"),
        ("select/decide/en-*.rows", "select"),
        ("select/exact/*.lost", "select"),
        ("tokenize/parts/en-*.tokens", "mix"),
    ],
)
def test_a_damaged_part_is_named_never_used(corpus, first, pattern, made_anew):
    run(corpus)
    expected = same_bytes(corpus / "out")
    work = corpus / "out" / "work"
    path = next(path for path in sorted(work.glob(pattern)) if path.stat().st_size)
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 64]) + content[middle + 1 :])
    for receipt in (work / made_anew).rglob("*.json"):
        if receipt.parent != path.parent:
            receipt.unlink()
    with pytest.raises(ShardError, match=f"{path.name}: damaged"):
        run(corpus)
    path.unlink()
    run(corpus)
    assert same_bytes(corpus / "out") == expected


def test_records_read_twice_are_counted_and_kept_once(tmp_path):
    write_tokenizer(tmp_path / "tokenizer.json")
    for name in ("en-a.jsonl", "en-b.jsonl"):
        (tmp_path / name).write_bytes(lines(english(30)[10:]))
    sources = {"en": {"input": "en*.jsonl", "id": "id", "ratio": 1}}
    result = run(tmp_path, until="tokenize", sources=sources, decontaminate=None, deduplicate=None)
    assert result["ledger"]["sources"]["en"]["dropped"] == {"duplicate.record": 20}


def test_too_many_unreadable_records_stop_after_measure(tmp_path):
    write_corpus(tmp_path)
    write_tokenizer(tmp_path / "tokenizer.json")
    recipe = json.loads(recipe_text())
    recipe["sources"]["en"]["max_quarantined"] = 0.01
    with pytest.raises(InputError, match=r"source en: 5 of 47 records are unreadable"):
        run(tmp_path, sources=recipe["sources"])
    recipe["sources"]["en"]["max_quarantined"] = 0.2
    result = run(tmp_path, sources=recipe["sources"])
    assert reused(result)["measure"]
    assert result["ledger"]["sources"]["en"]["quarantined"]["invalid_utf8"] == 1


@pytest.mark.parametrize("content", [b"", b"\n\n", b'{"text": ""}\n', b'{"text": "."}\n'])
def test_almost_nothing_to_read(tmp_path, content):
    """Empty files, blank lines, empty and tiny documents end in a balanced ledger or an error."""
    write_tokenizer(tmp_path / "tokenizer.json")
    (tmp_path / "en.jsonl").write_bytes(content)
    sources = {"en": {"input": "en.jsonl", "ratio": 1}}
    result = run(tmp_path, until="tokenize", sources=sources, decontaminate=None)
    entry = result["ledger"]["sources"]["en"]
    assert entry["read"] == entry["kept"] + sum(entry["dropped"].values())


def test_a_touched_file_is_read_again_and_nothing_else(corpus, first):
    run(corpus)
    os.utime(corpus / "en.jsonl", ns=(1, 1))
    again = run(corpus)
    assert [name for name, all_reused in reused(again).items() if not all_reused] == ["measure"]


def test_from_refuses_stages_that_another_recipe_made(corpus, first):
    run(corpus)
    path = corpus / "recipe.yaml"
    path.write_text(recipe_text(filters={"gopher_quality": {"too_few_words": "words < 3"}}))
    with pytest.raises(EngineError, match="Run again without --from"):
        Job(load_recipe(path), quiet=True).run(from_stage="tokenize")


def test_files_of_others_are_left_alone(corpus, first):
    run(corpus)
    foreign = [corpus / "out" / name / "mine.bin" for name in ("shards", "quarantine")]
    for path in foreign:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"mine")
    run(corpus, budget={"tokens": 9000})
    for path in foreign:
        assert path.read_bytes() == b"mine"
        path.unlink()


def test_the_result_of_another_recipe_is_not_overwritten(corpus, first):
    run(corpus)
    with pytest.raises(RecipeError, match="holds the result of the recipe 'small'"):
        run(corpus, name="other")


def test_a_run_that_fails_leaves_the_ledger_so_far_and_no_manifest(tmp_path):
    write_corpus(tmp_path)
    write_tokenizer(tmp_path / "tokenizer.json")
    with pytest.raises(SupplyError):
        run(tmp_path, mixture={"shortfall": "fail", "max_epochs": 1}, budget={"tokens": "1B"})
    ledger = json.loads((tmp_path / "out" / "ledger.json").read_text())
    assert ledger["sources"]["en"]["read"] == 47
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("fields", "told"),
    [(["questoin"], "did you mean 'question'"), (["id"], "none of its 6 items has 13 words")],
)
def test_benchmark_fields_are_checked_before_any_work(corpus, first, fields, told):
    benchmark = {"input": "benchmark.jsonl", "fields": fields}
    with pytest.raises(RecipeError, match=told):
        run(corpus, decontaminate={"benchmarks": {"quiz": benchmark}})


@pytest.mark.parametrize("name", ["benchmark.jsonl.zst", "benchmark.jsonl.gz"])
def test_packed_benchmarks_give_the_same(corpus, first, name):
    benchmark = {"input": name, "fields": ["question"]}
    changed = run(corpus, decontaminate={"benchmarks": {"quiz": benchmark}, "action": "cut"})
    assert changed["ledger"] == first["ledger"]


def test_two_runs_in_one_folder_are_refused(corpus, first):
    import fcntl

    with (corpus / "out" / "work" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(EngineError, match="another run"):
            run(corpus)
