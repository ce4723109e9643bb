from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from corpusclean.errors import RecipeError, SupplyError
from corpusclean.mixture.ratios import plan_mixture


def tokens(plan):
    return {name: source.tokens for name, source in plan.sources.items()}


@pytest.mark.parametrize(
    ("supply", "ratios", "budget", "max_epochs", "shortfall", "expected"),
    [
        # Enough of everything: the policy has nothing to say.
        ({"a": 1000, "b": 1000}, {"a": 0.8, "b": 0.2}, 1000, 4, "fail", {"a": 800, "b": 200}),
        ({"a": 1000, "b": 50}, {"a": 0.8, "b": 0.2}, 1000, 4, "shrink", {"a": 800, "b": 200}),
        ({"a": 9}, {"a": 1.0}, 7, 1, "fail", {"a": 7}),
        # Thirds: the largest remainder, ties by name.
        (
            {"c": 100, "b": 100, "a": 100},
            {"c": 0.3333333, "b": 0.3333333, "a": 0.3333334},
            100,
            1,
            "fail",
            {"a": 34, "b": 33, "c": 33},
        ),
        ({"b": 9, "a": 9}, {"b": 0.5, "a": 0.5}, 5, 1, "fail", {"a": 3, "b": 2}),
        # A ratio of 0 gives nothing, whatever is there; no supply hurts nobody then.
        ({"a": 100, "b": 100}, {"a": 1.0, "b": 0.0}, 50, 1, "waterfill", {"a": 50, "b": 0}),
        ({"a": 100, "b": 0}, {"a": 1.0, "b": 0.0}, 50, 1, "shrink", {"a": 50, "b": 0}),
        # Exactly at the cap is enough; a fraction of an epoch caps too.
        ({"a": 25, "b": 100}, {"a": 0.5, "b": 0.5}, 200, 4, "fail", {"a": 100, "b": 100}),
        ({"a": 10, "b": 100}, {"a": 0.5, "b": 0.5}, 30, 1.5, "fail", {"a": 15, "b": 15}),
        # Short: the budget gives way ...
        ({"a": 100, "b": 1000}, {"a": 0.5, "b": 0.5}, 1000, 1, "shrink", {"a": 100, "b": 100}),
        ({"a": 100, "b": 1000}, {"a": 0.3, "b": 0.7}, 1000, 1, "shrink", {"a": 100, "b": 233}),
        # ... or the ratios, in one step or several.
        ({"a": 100, "b": 1000}, {"a": 0.5, "b": 0.5}, 1000, 1, "waterfill", {"a": 100, "b": 900}),
        (
            {"a": 10, "b": 310, "c": 5000},
            {"a": 0.4, "b": 0.3, "c": 0.3},
            1000,
            1,
            "waterfill",
            {"a": 10, "b": 310, "c": 680},
        ),
        (
            {"a": 0, "b": 900, "c": 900},
            {"a": 0.5, "b": 0.3, "c": 0.2},
            1000,
            1,
            "waterfill",
            {"a": 0, "b": 600, "c": 400},
        ),
        ({"a": 4, "b": 6}, {"a": 0.5, "b": 0.5}, 10, 1, "waterfill", {"a": 4, "b": 6}),
    ],
)
def test_plans(supply, ratios, budget, max_epochs, shortfall, expected):
    plan = plan_mixture(supply, ratios, budget, max_epochs, shortfall)
    assert tokens(plan) == expected
    assert plan.tokens == sum(expected.values())
    assert plan.budget == budget
    for name, source in plan.sources.items():
        assert source.available == supply[name]
        assert source.epochs == (expected[name] / supply[name] if supply[name] else None)


def test_a_plan_says_what_gave_way():
    supply, ratios = {"web": 100, "code": 1000}, {"web": 0.5, "code": 0.5}
    plan = plan_mixture(supply, ratios, 1000, 1, "waterfill")
    assert plan.changes == (
        "web is short: 500 tokens wanted, 100 planned",
        "code fills in: 500 tokens wanted, 900 planned",
    )
    assert [s.short for s in plan.sources.values()] == [True, False]
    plan = plan_mixture(supply, ratios, 1000, 1, "shrink")
    assert plan.changes[-1] == "the budget shrinks from 1,000 to 200 tokens to keep the ratios"
    assert plan_mixture(supply, ratios, 100, 1, "shrink").changes == ()


def test_failure_names_source_numbers_and_ways_on():
    with pytest.raises(SupplyError) as caught:
        plan_mixture({"web": 100, "code": 9000}, {"web": 0.5, "code": 0.5}, 1000, 1.5)
    message = str(caught.value)
    for part in ("web", "needed 500", "100 available", "1.5 epochs", "= 150", "budget to 300"):
        assert part in message
    assert "code:" not in message


@pytest.mark.parametrize(
    ("supply", "shortfall", "message"),
    [
        ({"a": 0, "b": 100}, "fail", "0 available"),
        ({"a": 0, "b": 100}, "shrink", "source a: found no tokens"),
        ({"a": 0, "b": 0}, "waterfill", "can give 0 tokens"),
        ({"a": 40, "b": 59}, "waterfill", "lower the budget to 99"),
    ],
)
def test_too_little_supply_is_an_error(supply, shortfall, message):
    with pytest.raises(SupplyError, match=message):
        plan_mixture(supply, {"a": 0.5, "b": 0.5}, 100, 1, shortfall)


@pytest.mark.parametrize(
    ("supply", "ratios", "budget", "max_epochs", "shortfall", "message"),
    [
        ({"a": 1}, {"b": 1.0}, 1, 1, "fail", "a, b"),
        ({"a": 1}, {"a": 0.9}, 1, 1, "fail", "sum to 0.9"),
        ({"a": 1, "b": 1}, {"a": 1.5, "b": -0.5}, 1, 1, "fail", "below zero"),
        ({"a": -1}, {"a": 1.0}, 1, 1, "fail", "below zero"),
        ({"a": 1}, {"a": 1.0}, 0, 1, "fail", "at least one"),
        ({"a": 1}, {"a": 1.0}, 1, 0, "fail", "max_epochs"),
        ({"a": 1}, {"a": float("nan")}, 1, 1, "fail", "finite"),
        ({"a": 1}, {"a": 1.0}, 1, float("inf"), "fail", "finite"),
        ({"a": 1}, {"a": 1.0}, 1, 1, "stretch", "'stretch'"),
        ({"a": 1}, {"a": 1.0}, 9, 1, "stretch", "'stretch'"),
        ({}, {}, 1, 1, "fail", "sum to 0"),
    ],
)
def test_arguments_that_cannot_be(supply, ratios, budget, max_epochs, shortfall, message):
    with pytest.raises(RecipeError, match=message):
        plan_mixture(supply, ratios, budget, max_epochs, shortfall)


def test_ratios_mean_their_decimal_digits():
    names = "abcdefghij"
    plan = plan_mixture(dict.fromkeys(names, 10**18), dict.fromkeys(names, 0.1), 10**18, 1)
    assert set(tokens(plan).values()) == {10**17}


@st.composite
def mixtures(draw):
    count = draw(st.integers(1, 6))
    names = draw(st.permutations([f"s{i}" for i in range(count)]))
    weights = draw(st.lists(st.integers(0, 100), min_size=count, max_size=count))
    assume(sum(weights))
    ratios = [weight / sum(weights) for weight in weights]
    supply = draw(st.lists(st.integers(0, 2000), min_size=count, max_size=count))
    return (
        dict(zip(names, supply, strict=True)),
        dict(zip(names, ratios, strict=True)),
        draw(st.integers(1, 5000)),
        draw(st.sampled_from([0.3, 1, 1.5, 4])),
        draw(st.sampled_from(["fail", "shrink", "waterfill"])),
    )


def planned(*arguments):
    """The plan, or None where there is too little."""
    try:
        return plan_mixture(*arguments)
    except SupplyError:
        return None


@settings(deadline=None)
@given(mixtures())
def test_sums_are_exact_and_caps_hold(mixture):
    supply, ratios, budget, max_epochs, shortfall = mixture
    plan = planned(*mixture)
    assume(plan is not None)
    assert plan.tokens == sum(tokens(plan).values())
    assert plan.tokens == budget or (shortfall == "shrink" and plan.tokens < budget)
    total = sum(Fraction(str(r)) for r in ratios.values())
    for name, source in plan.sources.items():
        assert 0 <= source.tokens <= Fraction(str(max_epochs)) * supply[name]
        if shortfall != "waterfill":
            share = Fraction(str(ratios[name])) / total
            assert abs(source.tokens - share * plan.tokens) < 1


@settings(deadline=None)
@given(mixtures())
def test_a_shrunk_budget_is_the_largest(mixture):
    supply, ratios, budget, max_epochs, _ = mixture
    plan = planned(supply, ratios, budget, max_epochs, "shrink")
    if plan is not None:
        assert planned(supply, ratios, plan.tokens, max_epochs, "fail") is not None
    if plan is None or plan.tokens < budget:
        more = plan.tokens + 1 if plan else 1
        assert planned(supply, ratios, more, max_epochs, "fail") is None


@settings(deadline=None)
@given(mixtures(), st.randoms(use_true_random=False))
def test_the_order_of_sources_does_not_matter(mixture, random):
    supply, ratios, *rest = mixture
    names = list(ratios)
    random.shuffle(names)
    plan = planned(*mixture)
    other = planned({n: supply[n] for n in sorted(supply)}, {n: ratios[n] for n in names}, *rest)
    assert (plan is None) == (other is None)
    if plan is not None:
        assert plan.sources == other.sources


@settings(deadline=None)
@given(mixtures(), st.integers(1, 1000), st.data())
def test_more_supply_never_lowers_what_a_source_gets(mixture, more, data):
    supply, *rest = mixture
    name = data.draw(st.sampled_from(sorted(supply)))
    plan = planned(*mixture)
    richer = planned({**supply, name: supply[name] + more}, *rest)
    if plan is not None:
        assert richer is not None
        assert richer.sources[name].tokens >= plan.sources[name].tokens


@settings(deadline=None)
@given(mixtures())
def test_waterfill_lowers_only_short_sources_and_raises_the_others_alike(mixture):
    supply, ratios, budget, max_epochs, _ = mixture
    plan = planned(supply, ratios, budget, max_epochs, "waterfill")
    assume(plan is not None)
    caps = {n: int(Fraction(str(max_epochs)) * c) for n, c in supply.items()}
    total = sum(Fraction(str(r)) for r in ratios.values())
    shares = {n: Fraction(str(r)) / total for n, r in ratios.items()}
    free = [n for n in shares if shares[n] and plan.sources[n].tokens < caps[n]]
    for name in free:
        assert plan.sources[name].tokens > shares[name] * budget - 1
        for other in free:
            level = (plan.sources[other].tokens + 1) / shares[other]
            assert (plan.sources[name].tokens - 1) / shares[name] < level
