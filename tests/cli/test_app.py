"""The command line: JSON on standard output alone, and the exit codes of the contract."""

import json
from pathlib import Path

import pytest
from small_corpus import english, lines, recipe_text, write_corpus, write_tokenizer
from typer.testing import CliRunner

from corpusclean.cli.app import app

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("app")
    write_corpus(folder)
    write_tokenizer(folder / "tokenizer.json")
    (folder / "recipe.yaml").write_text(recipe_text())
    return folder


@pytest.fixture(scope="module")
def finished(corpus) -> dict:
    found = RUNNER.invoke(app, ["run", str(corpus / "recipe.yaml"), "--workers", "2", "--json"])
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


def invoke(*words: object, code: int = 0):
    found = RUNNER.invoke(app, [str(word) for word in words])
    assert found.exit_code == code, found.output
    return found


def test_run_gives_ledger_and_stages(finished):
    assert set(finished) >= {"ledger", "run"}
    for stage in finished["run"]["stages"].values():
        assert set(stage) >= {
            "documents",
            "bytes",
            "wall_seconds",
            "cpu_seconds",
            "peak_rss_bytes",
            "parts",
            "parts_reused",
        }
    assert list(finished["run"]["stages"]) == ["measure", "select", "tokenize", "mix"]


def test_run_prints_tables(corpus, finished):
    told = invoke("run", corpus / "recipe.yaml", "--workers", 1)
    assert "nothing to do" in told.stderr
    for word in ("Documents", "dropped because of", "Mixture", "quiz", "parts"):
        assert word in told.stdout


def test_from_and_until(corpus, finished):
    recipe = corpus / "recipe.yaml"
    told = json.loads(invoke("run", recipe, "--from", "mix", "--json").stdout)
    assert told["ledger"] == finished["ledger"]
    other = corpus / "until"
    told = json.loads(
        invoke("run", recipe, "--output", other, "--until", "select", "--json").stdout
    )
    assert told["manifest"] is None
    assert not (other / "manifest.json").exists()
    assert told["ledger"]["sources"]["en"]["emitted"] is None
    invoke("query", other, "SELECT count(*) FROM verdicts")


def test_verify(corpus, finished):
    assert json.loads(invoke("verify", corpus / "out", "--json").stdout) == {
        "ok": True,
        "shards": len(finished["manifest"]["shards"]),
        "problems": [],
    }


def test_verify_finds_a_changed_byte(corpus, finished):
    shard = corpus / "out" / (finished["manifest"]["shards"][0]["path"] + ".bin")
    content = shard.read_bytes()
    shard.write_bytes(content[:10] + bytes([content[10] ^ 1]) + content[11:])
    try:
        found = json.loads(invoke("verify", corpus / "out", "--json", code=1).stdout)
        assert not found["ok"]
        assert shard.name in found["problems"][0]["path"]
        assert set(found["problems"][0]) == {"path", "problem", "expected", "found"}
    finally:
        shard.write_bytes(content)


QUERIES = [
    ("SELECT count(*) AS n FROM documents", [{"n": 122}]),
    ("SELECT count(*) AS n FROM verdicts WHERE kept", None),
    (
        "SELECT uid, id, source, url, words, language, part, row FROM documents "
        "WHERE id = 'en-1' AND source = 'en'",
        None,
    ),
    (
        "SELECT reasons[1] AS reason FROM documents JOIN verdicts USING (part, row) "
        "WHERE id = 'en-8'",
        [{"reason": "gopher_quality.too_few_words"}],
    ),
    ("SELECT sum(tokens) > 0 AS some FROM provenance", [{"some": True}]),
]


@pytest.mark.parametrize(("sql", "rows"), QUERIES)
def test_query(corpus, finished, sql, rows):
    found = json.loads(invoke("query", corpus / "out", sql, "--json").stdout)
    assert set(found) == {"columns", "rows"}
    assert all(list(row) == found["columns"] for row in found["rows"])
    assert found["rows"]
    if rows is not None:
        assert found["rows"] == rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELEC 1",
        "SELECT nothing FROM documents",
        "DROP VIEW documents",
        "SELECT 1; SELECT 2",
        "COPY (SELECT 1) TO 'x.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "",
    ],
)
def test_query_refuses_what_is_wrong_or_writes(corpus, finished, sql):
    found = invoke("query", corpus / "out", sql, "--json", code=2)
    assert json.loads(found.stdout)["error"]["kind"] == "RecipeError"


def test_query_of_a_folder_that_is_no_run(tmp_path):
    assert "expected the output folder of a run" in invoke("query", tmp_path, "x", code=2).stderr


def test_explain(corpus):
    documents = english(10)
    path = corpus / "look.jsonl"
    path.write_bytes(lines(documents))
    found = json.loads(invoke("explain", corpus / "recipe.yaml", path, "--json").stdout)
    assert [entry["id"] for entry in found] == [document["id"] for document in documents]
    for entry in found:
        assert set(entry) >= {
            "id",
            "uid",
            "language",
            "signals",
            "rules",
            "cuts",
            "text_after_cuts",
            "kept",
            "reasons",
        }
        for rule in entry["rules"]:
            assert set(rule) >= {"reason", "predicate", "fired", "values", "margins"}
    short = found[8]
    assert short["reasons"][0] == "gopher_quality.too_few_words"
    rule = next(r for r in short["rules"] if r["reason"] == "gopher_quality.too_few_words")
    assert rule["fired"] and rule["values"] == {"words": 2} and rule["margins"] == {"words": -48}
    assert found[0]["kept"] and found[0]["reasons"] == []


def test_explain_text_names_what_fired(corpus):
    path = corpus / "short.txt"
    path.write_text("今天天气很好。")
    told = invoke("explain", corpus / "recipe.yaml", path).stdout
    assert "dropped: gopher_quality.too_few_words" in told


def test_explain_of_an_unknown_source(corpus):
    words = ("explain", corpus / "recipe.yaml", corpus / "en.jsonl", "--source", "fr")
    assert "no such source, but en, asia, code" in invoke(*words, code=2).stderr


def test_check(corpus):
    assert json.loads(invoke("check", corpus / "recipe.yaml", "--json").stdout)["ok"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"budgett": 1}, "budget"),
        ({"tokenizer": {"file": "none.json"}}, "none.json"),
        ({"filters": {"gopher_quality": {"too_few_words": "wordz < 3"}}}, "words"),
        ({"sources": {"en": {"input": "nothing*.jsonl", "ratio": 1}}}, "nothing*.jsonl"),
        ({"tokenizer": {"file": "tokenizer.json", "eod": "<none>"}}, "<none>"),
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_wrong_recipe_is_refused_before_any_work(corpus, tmp_path, command, changes, told):
    path = corpus / "wrong.yaml"
    path.write_text(recipe_text(**changes, output={"directory": str(tmp_path / "none")}))
    found = invoke(command, path, code=2)
    assert told in found.stderr
    assert found.stdout == ""
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("order", ["own", "megatron"])
def test_trace(corpus, finished, order):
    words = ("trace", corpus / "out", "--step", 2, "--global-batch", 1, "--order", order)
    found = json.loads(invoke(*words, "--json").stdout)
    names = ("step", "sample", "source", "uid", "id", "copy", "shard", "sequence", "start", "stop")
    assert found
    assert all(set(names) <= set(entry) and entry["step"] == 2 for entry in found)
    assert {entry["sample"] for entry in found} == {1}
    assert found[0]["uid"] in invoke(*words, "--details").stdout


def test_trace_without_a_batch_size_says_what_to_give(corpus, finished):
    assert "global" in invoke("trace", corpus / "out", "--step", 1, code=2).stderr


def test_skip(corpus, finished, tmp_path):
    words = ("skip", corpus / "out", "--steps", "1-2", "--global-batch", 1, "--write", tmp_path)
    found = json.loads(invoke(*words, "--json").stdout)
    assert found["samples"] == 2
    assert set(found["files"]) == {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "blocklist.txt").read_text().split() == found["blocklist"]


def test_plan():
    found = json.loads(invoke("plan", "--parameters", "1B", "--json").stdout)
    assert set(found) >= {"parameters", "tokens", "flops", "laws", "sources", "training"}
    assert found["tokens"] == 20_000_000_000


@pytest.mark.parametrize(
    "words",
    [
        ["nothing"],
        ["run"],
        ["run", "missing.yaml"],
        ["plan", "--parameters", "many"],
        ["run", "missing.yaml", "--workers", "0"],
        ["run", "missing.yaml", "--from", "later"],
    ],
)
def test_wrong_use(words):
    invoke(*words, code=2)


@pytest.mark.parametrize("engine", ["flink", "dataflow"])
def test_other_engines_are_refused_clearly(corpus, engine):
    found = invoke("run", corpus / "recipe.yaml", "--engine", engine, code=2)
    assert "--engine local" in found.stderr


def test_version():
    assert invoke("--version").stdout.strip().count(".") == 2
