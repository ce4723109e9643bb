"""Loading rule sets: names, overrides, parameters, folders, and what may be wrong with a file."""

import pickle

import pytest

from corpusclean.errors import RecipeError
from corpusclean.recipe import load_recipe
from corpusclean.recipe.problems import RecipeProblems
from corpusclean.rules.loading import load_rule_set, rules_for_source
from corpusclean.rules.rule_files import filter_folders, find_rule_sets

RECIPE = """
name: small
sources:
  web:
    input: a.jsonl
    ratio: 0.5
    languages: {keep: [en, de], min_probability: 0.4}
    filters: [mine, anomalies, {gopher_quality: {too_few_words: "words < 20"}}]
  code: {input: b.jsonl, ratio: 0.5, filters: [gopher_quality]}
filters:
  gopher_quality: {too_few_words: "words < 30", too_few_stop_words: off}
blocklists:
  rude: {terms: rude.txt, max_hits: 3}
  silly: {terms: silly.txt}
budget: {tokens: 1K}
tokenizer: {file: t.json}
output: {directory: out}
"""


BARE = """
name: bare
sources: {web: {input: a.jsonl, ratio: 1, filters: [mine]}}
budget: {tokens: 1K}
tokenizer: {file: t.json}
output: {directory: out}
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder for rule sets, beside a recipe."""
    (tmp_path / "filters").mkdir()
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    return tmp_path / "filters"


def load(folder, text: str, name: str = "mine", **options):
    path = folder / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return load_rule_set(name, search=(str(folder),), **options)


def test_a_rule_set(folder):
    found = load(
        folder,
        "source: me\nlanguage: de\ninterpretation: >\n  so\n  and so\n"
        "drop: {short: words < 5, long: words > 9}\n",
    )
    assert (found.name, found.source, found.scope) == ("mine", "me", "document")
    assert (found.language, found.interpretation) == ("de", "so and so")
    assert [rule.reason for rule in found.rules] == ["mine.short", "mine.long"]
    assert found.rules[0].predicate == "words < 5" and found.rules[0].signals == ("words",)
    assert found.signals == {"words"}


def test_overrides_replace_and_switch_off(folder):
    text = "source: me\ndrop: {a: words < 5, b: words > 9, c: lines > 3}\n"
    found = load(folder, text, overrides={"a": "words < 7", "b": "off"})
    assert [(rule.name, rule.predicate) for rule in found.rules] == [
        ("a", "words < 7"),
        ("c", "lines > 3"),
    ]


def test_off_in_the_file_is_off_until_it_is_overridden(folder):
    text = "source: me\ndrop: {a: off, b: false, c: words > 3}\n"
    assert [rule.name for rule in load(folder, text).rules] == ["c"]
    found = load(folder, text, overrides={"a": "words < 7"})
    assert [rule.name for rule in found.rules] == ["a", "c"]


def test_parameters(folder):
    text = "source: me\nparameters: {limit: 5, keep: [en, de]}\ndrop:\n"
    text += "  short: words < $limit\n  other: language NOT IN $keep\n"
    found = load(folder, text)
    assert [rule.predicate for rule in found.rules] == [
        "words < 5",
        "language NOT IN ('en', 'de')",
    ]
    found = load(folder, text, parameters={"limit": 0.5, "keep": ("zh",)})
    assert [rule.predicate for rule in found.rules] == ["words < 0.5", "language NOT IN ('zh')"]


def test_a_name_is_a_path(folder):
    found = load(folder, "source: me\ndrop: {a: words < 5}\n", name="compat/peer_c4")
    assert found.rules[0].reason == "compat/peer_c4.a"
    assert find_rule_sets((str(folder),)) == {
        "compat/peer_c4": str(folder / "compat" / "peer_c4.yaml")
    }


def test_the_folder_beside_the_recipe_comes_first(folder):
    search = filter_folders(str(folder.parent))
    (folder / "anomalies.yaml").write_text("source: me\ndrop: {a: words < 5}\n")
    assert load_rule_set("anomalies", search=search).source == "me"
    assert load_rule_set("gopher_quality", search=search).source.startswith("Rae")
    assert load_rule_set("anomalies").source == "this project"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: found nothing, expected a mapping"),
        ("drop: {a: words < 5}\n", "1: source: missing"),
        ("source: me\n", "1: drop: missing"),
        ("source: me\ndrop: {}\n", "2: drop: found a mapping, expected at least 1"),
        ("source: me\ndorp: {a: words < 5}\n", "2: dorp: unknown key; .*did you mean 'drop'"),
        ("source: me\nscope: page\ndrop: {a: words < 5}\n", "2: scope: found 'page', .*paragraph"),
        ("source: me\ndrop: {a: 5}\n", "2: drop.a: found 5, expected a predicate"),
        ("source: me\ndrop: {a: true}\n", "2: drop.a: found true, expected a predicate"),
        ("source: me\ndrop: {a: }\n", "2: drop.a: found nothing, expected a predicate"),
        ("source: me\ndrop:\n  a: wrods < 5\n", "3: drop.a: unknown signal 'wrods'"),
        ("source: me\ndrop:\n  a: words < $x\n", r"3: drop.a: unknown parameter \$x"),
        ("source: me\ndrop:\n  A b: words < 5\n", "3: drop.'A b': found the name 'A b'"),
        ("source: me\nlanguage: english\ndrop: {a: words < 5}\n", "2: language: .*language code"),
        ("source: me\nparameters: {x: {y: 1}}\ndrop: {a: words < 5}\n", "2: parameters.x: found"),
        ("source: me\neach: blocklist\ndrop: {a: words < 5, b: words > 9}\n", "3: drop: found 2"),
        ("source: me\ndrop: {a: words < 5, a: words > 9}\n", "2: drop.a: given twice"),
    ],
)
def test_what_is_wrong_with_a_file(folder, text, message):
    with pytest.raises(RecipeError, match=f"filters/mine.yaml:{message}"):
        load(folder, text)


def test_an_unknown_rule_set():
    with pytest.raises(RecipeError, match=r"unknown rule set 'gofer_quality'; .*'gopher_quality'"):
        load_rule_set("gofer_quality")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "", ".", "anomalies.yaml"])
def test_a_name_does_not_leave_the_folder(name):
    with pytest.raises(RecipeError, match="unknown rule set"):
        load_rule_set(name)


def test_an_unknown_rule_in_an_override():
    with pytest.raises(RecipeProblems, match="did you mean 'too_few_words'") as caught:
        load_rule_set("gopher_quality", {"too_few_word": "words < 5"})
    assert caught.value.problems[0].keys == ("too_few_word",)


def test_rules_for_a_source(folder):
    (folder / "mine.yaml").write_text("source: me\ndrop: {a: lines < 5}\n")
    recipe = load_recipe(folder.parent / "recipe.yaml")
    sets = rules_for_source(recipe, "web")
    names = ["mine", "anomalies", "gopher_quality", "language", "blocklist", "blocklist"]
    assert [rule_set.name for rule_set in sets] == names
    predicates = {rule.reason: rule.predicate for rules in sets for rule in rules.rules}
    assert predicates["gopher_quality.too_few_words"] == "words < 20"
    assert "gopher_quality.too_few_stop_words" not in predicates
    assert predicates["language.not_kept"] == "language NOT IN ('en', 'de')"
    assert predicates["language.low_probability"] == "language_probability < 0.4"
    assert predicates["blocklist.rude"] == "blocklist_rude_hits > 3"
    assert predicates["blocklist.silly"] == "blocklist_silly_hits > 0"
    assert list(predicates)[-2:] == ["blocklist.rude", "blocklist.silly"]


def test_sources_without_languages_have_no_language_rules(folder):
    (folder / "mine.yaml").write_text("source: me\ndrop: {a: lines < 5}\n")
    sets = rules_for_source(load_recipe(folder.parent / "recipe.yaml"), "code")
    assert [rule_set.name for rule_set in sets] == ["gopher_quality", "blocklist", "blocklist"]
    assert sets[0].rules[0].predicate == "words < 30"


def test_a_segment_scope_is_refused_in_a_recipe(folder):
    text = "source: me\nscope: sentence\ndrop: {a: words < 5}\n"
    assert load(folder, text).scope == "sentence"
    with pytest.raises(RecipeError, match=r"filters\[0\]: rule set mine cuts a sentence at a time"):
        load_recipe(folder.parent / "recipe.yaml")


def test_a_rule_may_look_at_a_blocklist(folder):
    (folder / "mine.yaml").write_text("source: me\ndrop: {a: blocklist_rude_hits > words}\n")
    sets = rules_for_source(load_recipe(folder.parent / "recipe.yaml"), "web")
    assert set(sets[0].rules[0].signals) == {"blocklist_rude_hits", "words"}


def test_the_blocklist_rule_can_be_overridden(folder):
    (folder / "mine.yaml").write_text("source: me\ndrop: {a: lines < 5}\n")
    text = RECIPE.replace(
        "filters:\n  gopher",
        "filters:\n  blocklist: {too_many_hits: blocklist_hits > $max_hits * 2}\n  gopher",
    )
    (folder.parent / "recipe.yaml").write_text(text)
    sets = rules_for_source(load_recipe(folder.parent / "recipe.yaml"), "code")
    assert sets[1].rules[0].predicate == "blocklist_rude_hits > 3 * 2"


@pytest.mark.parametrize(
    ("predicates", "contradiction"),
    [
        (("words < 50", "words > 40"), True),
        (("words < 50", "words > 50"), False),
        (("words < 50", "words >= 50"), True),
        (("words <= 50", "words > 50"), True),
        (("words < 50 OR words > 40", "lines < 1"), True),
        (("words < 50", "words > 40 AND lines > 3"), False),
        (("words < 50", "lines > 40"), False),
        (("words < 50", "off"), False),
        (("words < 10 OR words < 50", "words > 20 OR words > 100"), True),
    ],
)
def test_min_above_max(folder, predicates, contradiction):
    first, second = predicates
    (folder / "mine.yaml").write_text(f'source: me\ndrop: {{a: "{first}", b: "{second}"}}\n')
    path = folder.parent / "recipe.yaml"
    path.write_text(BARE)
    if contradiction:
        with pytest.raises(RecipeError, match="leave no value of words"):
            load_recipe(path)
    else:
        load_recipe(path)


def test_rule_sets_travel_and_print_the_same():
    """Their repr goes into fingerprints, so it holds what decides and nothing else."""
    found = load_rule_set("gopher_quality")
    copy = pickle.loads(pickle.dumps(found))
    assert copy == found and repr(copy) == repr(found)
    assert "words < 50" in repr(found)
    assert "Rae" not in repr(found) and "/" not in repr(found)
