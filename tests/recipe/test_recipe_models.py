"""Reading a good recipe: what it means, what is by default, what identifies it."""

import json
import pickle

import pytest
from pydantic import ValidationError

from corpusclean.recipe.models import OFF, check_recipe, load_recipe

SMALL = """
name: small
sources:
  web: {input: web/*.jsonl, ratio: 0.75}
  code: {input: [a.jsonl, b.jsonl.gz], ratio: 0.25}
budget: {tokens: 90K}
tokenizer: {file: t.json}
output: {directory: out}
"""


@pytest.fixture
def load(tmp_path):
    """Return a function that writes a recipe and loads it."""

    def write_and_load(text: str = SMALL, more: str = ""):
        path = tmp_path / "recipe.yaml"
        path.write_text(text + more, encoding="utf-8")
        return load_recipe(path)

    return write_and_load


def test_defaults(load):
    recipe = load(
        more="deduplicate: {near: {}}\ndecontaminate: {benchmarks: {b: {input: x, fields: [q]}}}"
    )
    web = recipe.sources["web"]
    assert (recipe.seed, web.text, web.id, web.max_quarantined) == (0, "text", None, 0.01)
    assert (recipe.mixture.shortfall, recipe.mixture.max_epochs) == ("fail", 4)
    near = recipe.deduplicate.near
    assert (near.shingle, near.bands, near.rows, near.similarity) == (5, 14, 8, 0.75)
    assert near.keep == ("source_order", "longest") and recipe.deduplicate.exact
    assert (recipe.decontaminate.method, recipe.decontaminate.ngram) == ("gpt3", 13)
    output = recipe.output
    assert (output.format, output.sequence_length, output.append_eod) == ("megatron", 2048, True)
    assert output.shard_tokens == 100_000_000
    assert (recipe.after_cuts.min_characters, recipe.after_cuts.max_cut_share) == (0, 1)


def test_absent_sections_are_off(load):
    recipe = load()
    assert recipe.deduplicate is None and recipe.decontaminate is None
    assert not recipe.blocklists and not recipe.filters


def test_sources_keep_their_order(load):
    assert list(load().sources) == ["web", "code"]


def test_one_input_or_many(load):
    recipe = load()
    assert recipe.sources["web"].inputs == ["web/*.jsonl"]
    assert recipe.sources["code"].inputs == ["a.jsonl", "b.jsonl.gz"]


@pytest.mark.parametrize(
    ("written", "tokens"),
    [
        ("{tokens: 2.5B}", 2_500_000_000),
        ("{tokens: 32K}", 32_000),
        ("{tokens: 1e9}", 1_000_000_000),
        ('{tokens: "5M"}', 5_000_000),
        ("{tokens: 7}", 7),
        ("{parameters: 125M}", 2_500_000_000),
        ("{parameters: 125M, tokens_per_parameter: 40}", 5_000_000_000),
        ("{flops: 6e21, tokens_per_parameter: 10}", 100_000_000_000),
    ],
)
def test_budget(load, written, tokens):
    assert load(SMALL.replace("{tokens: 90K}", written)).budget.total == tokens


@pytest.mark.parametrize("word", ["off", "false", '"off"', "False", "OFF"])
def test_off_switches_a_rule_off(load, word):
    recipe = load(more=f"filters: {{gopher_quality: {{too_few_stop_words: {word}}}}}")
    assert recipe.filters == {"gopher_quality": {"too_few_stop_words": OFF}}


def test_yaml_1_2(load):
    """`no` is Norwegian, `010` is ten."""
    text = SMALL.replace("ratio: 0.75", "ratio: 0.75, languages: {keep: [no, en]}")
    recipe = load(text.replace("90K", "010"))
    assert recipe.sources["web"].languages.keep == ("no", "en")
    assert recipe.budget.tokens == 10


@pytest.mark.parametrize(
    ("word", "value"), [("on", True), ("true", True), ("off", False), ("false", False)]
)
def test_switches(load, word, value):
    assert load(SMALL.replace("directory: out", f"directory: out, append_eod: {word}")).output


def test_near_can_be_switched_off(load):
    assert load(more="deduplicate: {near: off}").deduplicate.near is None
    assert load(more="deduplicate: {near: on}").deduplicate.near.bands == 14
    assert load(more="deduplicate: off").deduplicate is None


def test_filters_with_overrides_of_a_source(load):
    filters = 'filters: [anomalies, {gopher_quality: {too_few_words: "words < 20"}}]'
    source = load(SMALL.replace("ratio: 0.75", f"ratio: 0.75, {filters}")).sources["web"]
    assert list(source.rule_sets) == ["anomalies", "gopher_quality"]
    assert source.rule_sets["gopher_quality"] == {"too_few_words": "words < 20"}


def test_paths_are_relative_to_the_recipe(load, tmp_path):
    recipe = load()
    assert recipe.folder == str(tmp_path)
    assert recipe.resolve("../x/a.json") == str(tmp_path.parent / "x" / "a.json")
    assert recipe.resolve("/x/a.json") == "/x/a.json"
    assert recipe.resolve("gs://bucket/a.json") == "gs://bucket/a.json"
    assert recipe.output_directory == str(tmp_path / "out")
    assert recipe.output.directory == "out"


def test_a_byte_order_mark_and_crlf_do_not_matter(load, tmp_path):
    (tmp_path / "r.yaml").write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert load_recipe(tmp_path / "r.yaml").sha256 == load().sha256


def test_json_is_yaml(load):
    recipe = load()
    said = recipe.model_dump(mode="json", exclude_defaults=True)
    said["sources"]["web"].pop("filters", None)
    assert load(json.dumps(said)).sha256 == recipe.sha256


def test_models_are_frozen(load):
    recipe = load()
    with pytest.raises(ValidationError):
        recipe.seed = 3
    with pytest.raises(ValidationError):
        recipe.sources["web"].ratio = 1.0


def test_a_recipe_survives_pickling(load):
    recipe = load()
    copy = pickle.loads(pickle.dumps(recipe))
    assert copy == recipe and copy.folder == recipe.folder


SAME = SMALL.replace("{input: web/*.jsonl, ratio: 0.75}", "{ratio: 75e-2, input: [web/*.jsonl]}")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("# a comment\n" + SMALL, True),
        (SAME, True),
        (SMALL + "seed: 0\n", True),
        (SMALL.replace("90K", "90000"), True),
        (SMALL + "seed: 1\n", False),
        (SMALL.replace("90K", "91K"), False),
        (SMALL.replace("web:", "net:"), False),
        (SMALL + "deduplicate: {}\n", False),
    ],
)
def test_sha256(load, text, same):
    assert (load(text).sha256 == load().sha256) is same


def test_sha256_depends_on_the_order_of_sources_and_blocklists(load):
    lines = SMALL.splitlines()
    lines[3], lines[4] = lines[4], lines[3]
    assert load("\n".join(lines)).sha256 != load().sha256
    a, b = "a: {terms: a.txt}", "b: {terms: b.txt}"
    first = load(more=f"blocklists: {{{a}, {b}}}").sha256
    assert load(more=f"blocklists: {{{b}, {a}}}").sha256 != first


def test_sha256_does_not_depend_on_the_folder(load, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "r.yaml").write_text(SMALL)
    assert load_recipe(other / "r.yaml").sha256 == load().sha256


def test_check_names_every_file_that_is_missing(load):
    recipe = load(
        more="blocklists: {bad: {terms: t.txt}}\n"
        "decontaminate: {benchmarks: {quiz: {input: q.jsonl, fields: [question]}}}\n"
    )
    problems = check_recipe(recipe)
    for key in (
        "sources.web.input",
        "sources.code.input",
        "decontaminate.benchmarks.quiz.input",
        "blocklists.bad.terms",
        "tokenizer.file",
    ):
        assert any(problem.startswith(key + ":") for problem in problems), key


def test_check_is_content_when_all_is_there(load, tmp_path):
    recipe = load()
    (tmp_path / "web").mkdir()
    for name in ("web/1.jsonl", "a.jsonl", "b.jsonl.gz", "t.json"):
        (tmp_path / name).write_bytes(b"{}")
    assert check_recipe(recipe) == []
    (tmp_path / "web" / "2.docx").write_bytes(b"")
    assert check_recipe(load(SMALL.replace("*.jsonl", "*"))) != []


def test_check_knows_the_languages_of_the_model(load):
    text = SMALL.replace("ratio: 0.75", "ratio: 0.75, languages: {keep: [cn, no, unknown]}")
    problems = [p for p in check_recipe(load(text)) if ".languages." in p]
    assert len(problems) == 1 and "'cn'" in problems[0]


def test_check_refuses_a_list_without_terms(load, tmp_path):
    (tmp_path / "t.txt").write_text("# nothing\n")
    problems = check_recipe(load(more="blocklists: {bad: {terms: t.txt}}\n"))
    assert any("blocklists.bad.terms" in p and "no term" in p for p in problems)
