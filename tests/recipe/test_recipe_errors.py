"""A recipe that is wrong: every problem named at once, with file, line, key and a way out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import RecipeError
from corpusclean.recipe import load_recipe
from corpusclean.recipe.problems import RecipeProblems

GOOD = """\
name: small
seed: 17
sources:
  web:
    input: web/*.jsonl
    ratio: 0.75
    languages: {keep: [en], min_probability: 0.65}
    filters: [anomalies, gopher_quality]
  code: {input: code.jsonl, ratio: 0.25}
filters:
  gopher_quality: {too_few_words: "words < 20"}
blocklists:
  silly: {terms: list.txt, max_hits: 0}
deduplicate:
  exact: true
  near: {shingle: 5, bands: 14, rows: 8, similarity: 0.75, keep: [source_order, longest]}
decontaminate:
  benchmarks: {quiz: {input: quiz.jsonl, fields: [question]}}
  action: cut
after_cuts: {min_characters: 200, max_cut_share: 0.5}
mixture: {shortfall: waterfill, max_epochs: 4}
budget: {tokens: 90K}
tokenizer: {file: tokenizer.json}
output: {directory: out, sequence_length: 512}
"""


@pytest.fixture
def problems(tmp_path):
    """Return a function from a recipe's text to the problems that loading it gives."""

    def load(text: str | bytes) -> list[str]:
        path = tmp_path / "recipe.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            load_recipe(path)
        except RecipeProblems as error:
            return [str(p).replace(str(path), "recipe.yaml") for p in error.problems]
        return []

    return load


def test_the_good_recipe_is_good(problems):
    assert problems(GOOD) == []


WRONG = [
    ("seed: 17", "sead: 17", "recipe.yaml:2: sead: unknown key", "did you mean 'seed'?"),
    ("ratio: 0.75", "ratoi: 0.75", "recipe.yaml:6: sources.web.ratoi: unknown key", "'ratio'?"),
    ("    ratio: 0.75\n", "", "recipe.yaml:4: sources.web.ratio: missing", "a number"),
    ("ratio: 0.75", "ratio: 0.7", "recipe.yaml:3: sources: the ratios sum to 0.95", "expected 1"),
    ("ratio: 0.75", "ratio: high", "recipe.yaml:6: sources.web.ratio: found 'high'", "a number"),
    ("ratio: 0.75", "ratio: 1.75", "sources.web.ratio: found 1.75", "at most 1"),
    ("ratio: 0.75", "ratio: .nan", "sources.web.ratio: found nan", "finite"),
    ("ratio: 0.75", "ratio: true", "sources.web.ratio: found true", "a number"),
    ("ratio: 0.75", "ratio:", "sources.web.ratio: found nothing", "a number"),
    ("[en]", "[english]", "recipe.yaml:7: sources.web.languages.keep[0]", "language code"),
    ("[en]", "[]", "sources.web.languages.keep: found a list", "at least 1"),
    ("[en]", "[en, en]", "sources.web.languages.keep: found 'en' more than once", "once"),
    ("gopher_quality]", "gopher]", "filters[1]: unknown rule set 'gopher'", "gopher_quality"),
    ("gopher_quality]", "anomalies]", "sources.web: found 'anomalies' more than once", "once"),
    ("gopher_quality]", "language]", "filters[1]: rule set language is switched on", "languages"),
    (
        "too_few_words:",
        "too_few_word:",
        "recipe.yaml:11: filters.gopher_quality.too_few_word",
        "did you mean 'too_few_words'?",
    ),
    (
        "words < 20",
        "wrods < 20",
        "recipe.yaml:11: filters.gopher_quality.too_few_words: unknown signal 'wrods'",
        "did you mean 'words'?",
    ),
    ("words < 20", "words <", "filters.gopher_quality.too_few_words", "no SQL"),
    ("words < 20", "words + 20", "filters.gopher_quality.too_few_words", "BIGINT"),
    (
        "words < 20",
        "words < 200000",
        "sources.web.filters: gopher_quality.too_few_words",
        "gopher_quality.too_many_words (words > 100000) leave no value",
    ),
    ('"words < 20"', "20", "filters.gopher_quality.too_few_words: found 20", "predicate"),
    (
        "  gopher_quality: {too",
        "  gopher_qality: {too",
        "filters.gopher_qality: unknown rule set",
        "did you mean 'gopher_quality'?",
    ),
    ("silly:", "Silly words:", "blocklists", "a-z 0-9 _"),
    (
        "max_hits: 0",
        "max_hits: -1",
        "recipe.yaml:13: blocklists.silly.max_hits: found -1",
        "at least 0",
    ),
    (
        "exact: true",
        "exact: maybe",
        "recipe.yaml:15: deduplicate.exact: found 'maybe'",
        "true or false",
    ),
    (
        "longest]",
        "longets]",
        "recipe.yaml:16: deduplicate.near.keep[1]: found 'longets'",
        "did you mean 'longest'?",
    ),
    ("rows: 8", "rows: 0", "deduplicate.near.rows: found 0", "at least 1"),
    ("rows: 8", "rows: 8.5", "deduplicate.near.rows: found 8.5", "a whole number"),
    (
        "action: cut",
        "action: trim",
        "recipe.yaml:19: decontaminate.action: found 'trim'",
        "one of cut, drop, report",
    ),
    ("fields: [question]", "fields: []", "decontaminate.benchmarks.quiz.fields", "at least 1"),
    ("{min_characters: 200, max_cut_share: 0.5}", "200", "after_cuts: found 200", "a mapping"),
    (
        "waterfill",
        "waterfall",
        "recipe.yaml:21: mixture.shortfall: found 'waterfall'",
        "did you mean 'waterfill'?",
    ),
    ("tokens: 90K", "tokens: 90 thousand", "recipe.yaml:22: budget.tokens", "125M"),
    ("tokens: 90K", "tokens: 0.5", "budget.tokens: found 0.5", "whole number"),
    (
        "tokens: 90K",
        "tokens: 90K, flops: 1e21",
        "recipe.yaml:22: budget: found tokens, flops",
        "one of",
    ),
    ("tokens: 90K", "", "budget: found none of them", "tokens, parameters and flops"),
    ("budget: {tokens: 90K}\n", "", "recipe.yaml:1: budget: missing", "tokens"),
    ("{file: tokenizer.json}", "tokenizer.json", "recipe.yaml:23: tokenizer: found", "a mapping"),
    ("directory: out, ", "", "recipe.yaml:24: output.directory: missing", "a text"),
    ("name: small", "name: ../small", "recipe.yaml:1: name: found the name", "A-Z a-z 0-9"),
    ("name: small", "name: 7", "recipe.yaml:1: name: found 7", "in quotes"),
    ("  web:\n", "  web pages:\n", "sources", "A-Z a-z 0-9"),
    ("seed: 17", "seed: -1", "recipe.yaml:2: seed: found -1", "at least 0"),
]


@pytest.mark.parametrize(("old", "new", "place", "hint"), WRONG, ids=[w[1][:40] for w in WRONG])
def test_one_thing_wrong(problems, old, new, place, hint):
    assert old in GOOD
    found = problems(GOOD.replace(old, new, 1))
    assert any(place in said and hint in said for said in found), found
    assert all(said.startswith("recipe.yaml:") for said in found), found


def test_everything_wrong_is_said_at_once(problems):
    text = GOOD.replace("seed: 17", "sead: 17").replace("[en]", "[english]")
    text = text.replace("words < 20", "wrods < 20").replace("rows: 8", "rows: 0")
    found = problems(text)
    assert [said.split(":")[1] for said in found] == ["2", "7", "11", "16"]


LATER = [
    ("seed: 17", "perplexity: {}", "recipe.yaml:2: perplexity"),
    ("seed: 17", "classifiers: {edu: {fasttext: x}}", "classifiers"),
    ("seed: 17", "validation: {tokens: 5M}", "validation"),
    ("seed: 17", "training: {global_batch: 1}", "training"),
    ("input: web/*.jsonl", "input: {dataset: c4, split: train}", "sources.web.input"),
    ("terms: list.txt", "urls: lists/adult", "blocklists.silly.urls"),
    ("max_hits: 0", "scope: sentence", "blocklists.silly.scope"),
    ("longest]", "newest]", "deduplicate.near.keep"),
    ("rows: 8", "verify: exact", "deduplicate.near.verify"),
    ("action: cut", "method: palm", "decontaminate.method"),
    ("shortfall: waterfill", "temperature: 2", "mixture.temperature"),
    ("shortfall: waterfill", "unimax: true", "mixture.unimax"),
    ("{file: tokenizer.json}", "{sentencepiece: m.model}", "tokenizer.sentencepiece"),
    ("{file: tokenizer.json}", "{train: {vocabulary: 16000}}", "tokenizer.train"),
    ("directory: out", "directory: out, format: webdataset", "output.format"),
    ("min_characters: 200", "min_sentences: 3", "after_cuts.min_sentences"),
]


@pytest.mark.parametrize(("old", "new", "place"), LATER, ids=[entry[2] for entry in LATER])
def test_what_this_version_does_not_have_is_refused(problems, old, new, place):
    (said,) = problems(GOOD.replace(old, new, 1))
    assert place in said and "this version does not have" in said and "recipe.yaml:" in said


SYNTAX = [
    (b"", "1: found nothing, expected a mapping"),
    (b"- a\n- b\n", "1: found a list, expected a mapping"),
    (b"just text", "1: found 'just text', expected a mapping"),
    (b"name: a\n\tseed: 1\n", "2: found a tab"),
    (b"name: \xff\n", "1: found the byte 0xff, expected UTF-8"),
    (b"\xfe\xff\x00n", "1: found the byte 0xfe, expected UTF-8"),
    (b"name: a\nname: b\n", "2: name: given twice, first on line 1"),
    (b"sources:\n  a: {ratio: 1}\n  a: {ratio: 2}\n", "3: sources.a: given twice"),
    (b"name: &n a\nseed: *n\n", "1: name: found the anchor &n"),
    (b"name: !!str 5\n", "1: name: found the tag"),
    (b"name: a\n---\nname: b\n", "2: a second document begins here"),
    (b"name: [a\n", "not YAML"),
    (b"? [a, b]\n: c\n", "1: found a key that is no plain text"),
    (b"name: a\x00b\n", "1: found the character U+0000"),
    (b"a: " + b"[" * 3000, "nested too deep"),
    (b"a: '" + b"x" * (5 << 20) + b"'", "expected a YAML file of at most"),
]


@pytest.mark.parametrize(("content", "expected"), SYNTAX, ids=range(len(SYNTAX)))
def test_what_is_no_recipe_file(problems, content, expected):
    found = problems(content)
    assert any(expected in said for said in found), found


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(RecipeError, match="no such file"):
        load_recipe(tmp_path / "none.yaml")
    with pytest.raises(RecipeError, match="cannot be read"):
        load_recipe(tmp_path)


def test_a_problem_in_a_rule_set_of_the_user_names_its_file(problems, tmp_path):
    (tmp_path / "filters").mkdir()
    (tmp_path / "filters" / "mine.yaml").write_text(
        "source: me\ndrop:\n  short: words < 5\n  odd: colour > 5\n"
    )
    found = problems(GOOD.replace("gopher_quality]", "gopher_quality, mine]"))
    assert len(found) == 1
    assert "filters/mine.yaml:4: drop.odd: unknown signal 'colour'" in found[0]


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["off", "no", "words < 5", "1e400", "125M", "gopher_quality", "~", "*a", "&"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=6), v, max_size=3),
    max_leaves=6,
)
LINES = GOOD.splitlines()


def refuses_or_loads(tmp_path_factory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "recipe.yaml"
    path.write_bytes(content)
    try:
        load_recipe(path)
    except RecipeError as error:
        assert str(error)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(LINES) - 1), VALUES)
def test_any_value_in_a_line_loads_or_is_refused(tmp_path_factory, number, value):
    import json

    lines = list(LINES)
    lines[number] = lines[number].split(":")[0] + ": " + json.dumps(value, ensure_ascii=False)
    refuses_or_loads(tmp_path_factory, "\n".join(lines).encode("utf-8", "surrogatepass"))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(GOOD)), st.integers(0, 12), st.binary(max_size=6))
def test_any_damage_loads_or_is_refused(tmp_path_factory, start, length, inserted):
    content = GOOD.encode()
    refuses_or_loads(tmp_path_factory, content[:start] + inserted + content[start + length :])


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab:-[]{},&*!|>'\"%@`#?~ \n\t01.", max_size=40))
def test_any_text_loads_or_is_refused(tmp_path_factory, text):
    refuses_or_loads(tmp_path_factory, text.encode())
