"""The command check: what is wrong, what is doubtful, and what would be done."""

import pytest
from small_corpus import write_tokenizer

from corpusclean.cli.check import check, show

RECIPE = """
name: small
sources:
  web: {input: a.jsonl, ratio: 1, languages: {keep: [en]}, filters: [anomalies, gopher_quality]}
budget: {tokens: 10K}
tokenizer: {file: t.json}
output: {directory: out}
"""


@pytest.fixture
def checked(tmp_path):
    """Return a function that writes a recipe beside its files and checks it."""
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    write_tokenizer(tmp_path / "t.json")

    def run(text: str) -> dict:
        path = tmp_path / "recipe.yaml"
        path.write_text(text)
        return check(path)

    return run


def test_all_well(checked):
    result = checked(RECIPE)
    assert result["ok"] and not result["problems"] and not result["warnings"]
    web = result["sources"]["web"]
    assert web["files"] == 1
    assert web["rule_sets"] == ["anomalies", "gopher_quality", "language"]
    assert web["reasons"][0] == "anomalies.control"
    assert web["reasons"][-1] == "language.low_probability"
    assert "in order" in show(result)


def test_problems_of_the_recipe(checked):
    result = checked(RECIPE.replace("ratio: 1", "ratoi: 1"))
    assert not result["ok"] and len(result["problems"]) == 2 and not result["sources"]
    assert any("recipe.yaml:4: sources.web.ratoi: unknown key" in p for p in result["problems"])
    assert "cannot be run" in show(result)


def test_problems_of_files(checked):
    result = checked(RECIPE.replace("a.jsonl", "[a.jsonl, none/*.jsonl]"))
    assert not result["ok"] and result["sources"]["web"]["files"] is None
    assert "sources.web.input" in result["problems"][0]


@pytest.mark.parametrize(
    ("old", "new", "warning"),
    [
        ("keep: [en]", "keep: [en, fr]", "sources.web: rule set gopher_quality is made for en"),
        (" languages: {keep: [en]},", "", "any language"),
        ("directory: out", "directory: out, shard_tokens: 1K", "less than a sequence of 2,048"),
        ("budget", "filters: {gopher_repetition: {top_2gram: off}}\nbudget", "no source lists"),
        ("  web:", "  none: {input: a.jsonl, ratio: 0}\n  web:", "sources.none: the ratio is 0"),
    ],
)
def test_warnings(checked, old, new, warning):
    result = checked(RECIPE.replace(old, new))
    assert result["ok"]
    assert len(result["warnings"]) == 1 and warning in result["warnings"][0]


def test_no_such_recipe(tmp_path):
    result = check(tmp_path / "none.yaml")
    assert not result["ok"] and "no such file" in result["problems"][0]
