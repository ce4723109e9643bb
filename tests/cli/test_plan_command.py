import json
from types import SimpleNamespace

import pytest

from corpusclean.cli import plan as plan_module
from corpusclean.cli.plan import plan_training, show
from corpusclean.errors import RecipeError


def recipe(directory, ratios, shortfall="fail", **budget):
    """What the plan reads of a recipe."""
    names = ("parameters", "flops", "tokens", "tokens_per_parameter")
    total = budget.pop("total")
    return SimpleNamespace(
        budget=SimpleNamespace(**dict.fromkeys(names) | budget, total=total),
        sources={name: SimpleNamespace(ratio=ratio) for name, ratio in ratios.items()},
        mixture=SimpleNamespace(max_epochs=4, shortfall=shortfall),
        output_directory=str(directory),
    )


@pytest.fixture
def planned(monkeypatch, tmp_path):
    """Plan a recipe that is given in memory; `tmp_path` is its output folder."""

    def plan(*arguments, options=(None, None, None), **changes):
        import corpusclean.recipe

        made = recipe(tmp_path, *arguments, **changes)
        monkeypatch.setattr(corpusclean.recipe, "load_recipe", lambda _: made)
        return plan_training(tmp_path / "recipe.yaml", *options)

    return plan


def supply(directory, **tokens):
    sources = {name: {"tokens_available": count} for name, count in tokens.items()}
    (directory / "manifest.json").write_text(json.dumps({"sources": sources}))


@pytest.mark.parametrize(
    ("given", "parameters", "tokens", "flops"),
    [
        ({"parameters": "1B"}, 10**9, 20 * 10**9, 1.2e20),
        ({"tokens": "1.4T"}, 70 * 10**9, 1_400 * 10**9, 5.88e23),
        ({"flops": "1.2e20"}, 10**9, 20 * 10**9, 1.2e20),
        ({"parameters": "125M", "tokens": "2.5B"}, 125 * 10**6, 25 * 10**8, 1.875e18),
        ({"parameters": "1B", "flops": "1.2e21"}, 10**9, 200 * 10**9, 1.2e21),
        ({"tokens": "20B", "flops": "1.2e20"}, 10**9, 20 * 10**9, 1.2e20),
    ],
)
def test_one_number_or_two_give_the_rest(given, parameters, tokens, flops):
    plan = plan_training(None, **given)
    assert (plan["parameters"], plan["tokens"]) == (parameters, tokens)
    assert plan["flops"] == pytest.approx(flops)
    assert plan["law"] == ("ratio_20" if len(given) == 1 else None)
    assert plan["sources"] == {}
    assert plan["training"] is None


def test_laws_stand_side_by_side():
    laws = plan_training(None, parameters="1B")["laws"]
    assert list(laws) == ["chinchilla_1", "chinchilla_2", "chinchilla_3", "besiroglu", "ratio_20"]
    assert {law["parameters"] for law in laws.values()} == {10**9}
    tokens = {name: round(law["tokens"] / 1e9, 1) for name, law in laws.items()}
    assert tokens == {
        "chinchilla_1": 20.2,
        "chinchilla_2": 20.0,
        "chinchilla_3": 29.2,
        "besiroglu": 22.7,
        "ratio_20": 20.0,
    }
    rounded = laws["chinchilla_3"]["with_rounded_constants"]
    assert rounded["tokens_per_parameter"] == pytest.approx(44.03, abs=0.01)


def test_laws_by_compute_and_by_tokens():
    laws = plan_training(None, flops="5.76e23")["laws"]
    for law in laws.values():
        assert 6 * law["parameters"] * law["tokens"] == pytest.approx(5.76e23)
    assert laws["besiroglu"]["tokens_per_parameter"] == pytest.approx(18.39, abs=0.01)
    laws = plan_training(None, tokens="1.4T")["laws"]
    assert {law["tokens"] for law in laws.values()} == {1_400 * 10**9}
    assert laws["besiroglu"]["parameters"] == pytest.approx(76.4e9, rel=0.01)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "found none of them"),
        ({"parameters": "1B", "tokens": "1B", "flops": "1e20"}, "found all three"),
        ({"parameters": "many"}, "--parameters: found 'many'"),
        ({"tokens": "-1"}, "--tokens"),
    ],
)
def test_wrong_use(given, message):
    with pytest.raises(RecipeError, match=message):
        plan_training(None, **given)


def test_the_plan_is_one_json_document():
    plan = plan_training(None, flops="5.76e23")
    assert json.loads(json.dumps(plan, allow_nan=False)) == plan


def test_sources_of_a_recipe_before_its_first_run(planned):
    plan = planned({"web": 0.8, "code": 0.2}, parameters=125 * 10**6, total=25 * 10**8)
    assert plan["tokens"] == 25 * 10**8
    assert plan["sources"]["web"] == {
        "ratio": 0.8,
        "tokens": 2 * 10**9,
        "available": None,
        "epochs": None,
        "effective_tokens": None,
    }
    assert plan["supply"] is None
    assert "Epochs are not known yet." in show(plan)


@pytest.mark.parametrize(
    ("budget", "parameters", "tokens", "law"),
    [
        ({"tokens": 1000, "total": 1000}, 50, 1000, "ratio_20"),
        ({"flops": 12 * 10**19, "total": 20 * 10**9}, 10**9, 20 * 10**9, "ratio_20"),
        (
            {"parameters": 10**9, "tokens_per_parameter": 100.0, "total": 10**11},
            10**9,
            10**11,
            None,
        ),
        (
            {"flops": 12 * 10**19, "tokens_per_parameter": 80.0, "total": 40 * 10**9},
            5 * 10**8,
            40 * 10**9,
            None,
        ),
    ],
)
def test_budgets_of_a_recipe(planned, budget, parameters, tokens, law):
    plan = planned({"web": 1.0}, **budget)
    assert (plan["parameters"], plan["tokens"], plan["law"]) == (parameters, tokens, law)
    assert plan["sources"]["web"]["tokens"] == tokens


def test_options_stand_in_place_of_the_budget(planned):
    plan = planned({"web": 1.0}, tokens=1000, total=1000, options=("1B", None, None))
    assert plan["sources"]["web"]["tokens"] == 20 * 10**9


def test_epochs_are_known_after_a_run(planned, tmp_path):
    supply(tmp_path, web=1000, code=50)
    plan = planned({"web": 0.8, "code": 0.2}, tokens=1000, total=1000)
    assert plan["sources"]["web"]["epochs"] == 0.8
    assert plan["sources"]["web"]["effective_tokens"] == 800
    assert plan["sources"]["code"]["epochs"] == 4.0
    assert plan["sources"]["code"]["effective_tokens"] == round(3.7257 * 50)
    assert plan["warnings"] == []
    assert "manifest.json" in show(plan)


def test_a_shortage_is_a_warning_of_the_plan(planned, tmp_path):
    supply(tmp_path, web=1000, code=10)
    plan = planned({"web": 0.8, "code": 0.2}, tokens=1000, total=1000)
    assert "source code: needed 200" in plan["warnings"][0]
    assert "code: 20.0 epochs; the last are worth almost nothing" in plan["warnings"][1]
    plan = planned({"web": 0.8, "code": 0.2}, "waterfill", tokens=1000, total=1000)
    assert plan["sources"]["code"]["tokens"] == 40
    assert "warning: code is short" in show(plan)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sources": {"a": 1}}', '{"sources": []}'])
def test_a_damaged_manifest_tells_nothing(planned, tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    plan = planned({"web": 1.0}, tokens=1000, total=1000)
    assert plan["sources"]["web"]["epochs"] is None


def test_a_manifest_of_other_sources_tells_nothing(planned, tmp_path):
    supply(tmp_path, web=10, prose=10)
    assert planned({"web": 1.0}, tokens=9, total=9)["sources"]["web"]["epochs"] is None


def test_the_text_names_every_law():
    text = show(plan_training(None, flops="5.76e23"))
    for name in plan_module.LAWS:
        assert name in text
    assert "its constants rounded  32.19B" in text
    assert "The laws span 18.4 to 59.1 tokens a parameter" in text
