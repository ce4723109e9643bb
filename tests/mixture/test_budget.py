import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import RecipeError
from corpusclean.mixture.budget import (
    BESIROGLU,
    CHINCHILLA_3,
    CHINCHILLA_3_ROUNDED,
    LAWS,
    Law,
    budget_tokens,
    effective_tokens,
    flops,
)

FITS = {"rounded": CHINCHILLA_3_ROUNDED, "unrounded": CHINCHILLA_3, "besiroglu": BESIROGLU}


@pytest.mark.parametrize(
    ("compute", "rounded", "unrounded", "besiroglu"),
    [
        (1e18, 25.67, 18.63, 25.70),
        (1e20, 40.08, 27.81, 22.88),
        (1e21, 50.08, 33.98, 21.59),
        (1e22, 62.58, 41.52, 20.37),
        (5.76e23, 92.65, 59.08, 18.39),
        (1e25, 122.12, 75.73, 17.11),
    ],
)
def test_tokens_a_parameter_by_compute(compute, rounded, unrounded, besiroglu):
    for fit, expected in zip(FITS.values(), (rounded, unrounded, besiroglu), strict=True):
        parameters, tokens = Law((fit.line(),)).at_flops(compute)
        assert tokens / parameters == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize(
    ("name", "parameters", "tokens"),
    [
        ("rounded", 3.219e10, 2.982e12),
        ("unrounded", 4.031e10, 2.382e12),
        ("besiroglu", 7.225e10, 1.329e12),
    ],
)
def test_model_for_the_compute_of_gopher(name, parameters, tokens):
    found = Law((FITS[name].line(),)).at_flops(5.76e23)
    assert found == pytest.approx((parameters, tokens), rel=3e-4)


@pytest.mark.parametrize(
    ("parameters", "rounded", "unrounded", "besiroglu"),
    [
        (1e9, 4.403e10, 2.920e10, 2.270e10),
        (7e9, 4.677e11, 2.962e11, 1.444e11),
        (7e10, 7.660e12, 4.594e12, 1.289e12),
    ],
)
def test_tokens_for_a_model(parameters, rounded, unrounded, besiroglu):
    for fit, expected in zip(FITS.values(), (rounded, unrounded, besiroglu), strict=True):
        assert Law((fit.line(),)).tokens(parameters) == pytest.approx(expected, rel=4e-4)


def test_chinchilla_3_uses_the_exponents_before_rounding():
    assert LAWS["chinchilla_3"] == Law((CHINCHILLA_3.line(),))


@pytest.mark.parametrize(
    ("name", "g", "a"),
    [
        ("rounded", 1.344711, 0.45161),
        ("unrounded", 1.300385, 0.45650),
        ("besiroglu", 0.119630, 0.51261),
    ],
)
def test_closed_form_of_the_optimum(name, g, a):
    fit, compute = FITS[name], 1e22
    assert fit.beta / (fit.alpha + fit.beta) == pytest.approx(a, abs=6e-6)
    parameters, tokens = Law((fit.line(),)).at_flops(compute)
    assert parameters == pytest.approx(g * (compute / 6) ** a, rel=3e-4)
    assert tokens == pytest.approx((compute / 6) ** (1 - a) / g, rel=3e-4)


@settings(deadline=None)
@given(st.floats(1e6, 1e14), st.sampled_from(sorted(FITS)))
def test_both_terms_of_the_loss_fall_equally_fast_at_the_optimum(parameters, name):
    fit = FITS[name]
    tokens = Law((fit.line(),)).tokens(parameters)
    of_parameters = fit.alpha * fit.a / parameters**fit.alpha
    assert of_parameters == pytest.approx(fit.beta * fit.b / tokens**fit.beta, rel=1e-9)


@pytest.mark.parametrize(
    ("parameters", "tokens", "compute"),
    [
        (400e6, 8.0e9, 1.92e19),
        (1e9, 20.2e9, 1.21e20),
        (10e9, 205.1e9, 1.23e22),
        (67e9, 1.5e12, 5.76e23),
        (175e9, 3.7e12, 3.85e24),
        (280e9, 5.9e12, 9.90e24),
        (520e9, 11.0e12, 3.43e25),
        (1e12, 21.2e12, 1.27e26),
        (10e12, 216.2e12, 1.30e28),
    ],
)
def test_first_table_of_chinchilla(parameters, tokens, compute):
    law = LAWS["chinchilla_1"]
    assert law.tokens(parameters) == pytest.approx(tokens, rel=1e-9)
    # The paper rounds tokens to two digits: 1.5T for 67B is 4.7 % above its own compute.
    assert law.at_flops(compute)[0] == pytest.approx(parameters, rel=0.03)


@pytest.mark.parametrize(
    ("parameters", "tokens", "compute"),
    [
        (400e6, 7.7e9, 1.84e19),
        (1e9, 20.0e9, 1.20e20),
        (10e9, 219.5e9, 1.32e22),
        (1e12, 26.5e12, 1.59e26),
        (10e12, 292.0e12, 1.75e28),
    ],
)
def test_second_table_of_chinchilla(parameters, tokens, compute):
    law = LAWS["chinchilla_2"]
    assert law.tokens(parameters) == pytest.approx(tokens, rel=1e-9)
    assert law.at_flops(compute)[0] == pytest.approx(parameters, rel=0.01)


@pytest.mark.parametrize(
    ("name", "a"), [("chinchilla_1", 0.50), ("chinchilla_2", 0.49), ("chinchilla_3", 0.4565)]
)
@pytest.mark.parametrize("compute", [1e16, 1e30])
def test_published_exponents_hold_beyond_the_tables(name, a, compute):
    few, many = (LAWS[name].at_flops(c)[0] for c in (compute, compute * 100))
    assert math.log(many / few) / math.log(100) == pytest.approx(a, abs=1e-4)


def test_twenty_tokens_a_parameter():
    assert LAWS["ratio_20"].tokens(7e9) == 140e9
    assert LAWS["ratio_20"].parameters(1.4e12) == 70e9
    assert LAWS["ratio_20"].at_flops(1.2e20) == pytest.approx((1e9, 20e9))


@settings(deadline=None)
@given(st.floats(1e5, 1e15), st.sampled_from(sorted(LAWS)))
def test_every_law_is_one_line_seen_from_three_sides(parameters, name):
    law = LAWS[name]
    tokens = law.tokens(parameters)
    compute = flops(parameters, tokens)
    assert law.parameters(tokens) == pytest.approx(parameters, rel=1e-9)
    n, d = law.at_flops(compute)
    assert (n, d) == pytest.approx((parameters, tokens), rel=1e-9)
    assert flops(n, d) == pytest.approx(compute, rel=1e-12)
    assert law.tokens(parameters * 1.001) > tokens


@pytest.mark.parametrize(
    ("budget", "tokens"),
    [
        ({"tokens": "2.5B"}, 2_500_000_000),
        ({"tokens": 1000}, 1000),
        ({"parameters": "125M"}, 2_500_000_000),
        ({"parameters": "125M", "tokens_per_parameter": 20}, 2_500_000_000),
        ({"parameters": "7B", "tokens_per_parameter": 142.5}, 997_500_000_000),
        ({"parameters": "3", "tokens_per_parameter": 0.5}, 1),
        ({"flops": "1.2e20"}, 20_000_000_000),
        ({"flops": "5.76e23"}, 1_385_640_646_055),
        ({"flops": "1.2e20", "tokens_per_parameter": 80}, 40_000_000_000),
        ({"tokens": "1M", "parameters": None}, 1_000_000),
    ],
)
def test_tokens_of_a_budget(budget, tokens):
    assert budget_tokens(budget) == tokens


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({}, "none of them"),
        ({"tokens": 1, "flops": 2}, "tokens, flops"),
        ({"tokens": "lots"}, "budget.tokens"),
        ({"parameters": "1M", "tokens_per_parameter": 0}, "tokens_per_parameter"),
        ({"parameters": "1M", "tokens_per_parameter": "x"}, "tokens_per_parameter"),
        ({"parameters": "1", "tokens_per_parameter": 0.1}, "too little"),
        ({"flops": "0.5"}, "budget.flops"),
    ],
)
def test_other_budgets_are_refused(budget, message):
    with pytest.raises(RecipeError, match=message):
        budget_tokens(budget)


@pytest.mark.parametrize(
    ("epochs", "effective"),
    [
        (0, 0.0),
        (0.25, 0.25),
        (1, 1.0),
        (2, 1.9682),
        (3, 2.8755),
        (4, 3.7257),
        (8, 6.6241),
        (16, 10.5825),
        (40, 15.1675),
        (100, 16.3630),
        (1e9, 16.387756),
    ],
)
def test_repeated_tokens_fade(epochs, effective):
    assert effective_tokens(1e9, epochs * 1e9) / 1e9 == pytest.approx(effective, abs=5e-5)


def test_no_supply_has_no_effect():
    assert effective_tokens(0, 0) == 0.0
    assert effective_tokens(0, 100) == 0.0


@settings(deadline=None)
@given(st.integers(1, 10**12), st.integers(0, 10**13), st.integers(1, 10**12))
def test_more_tokens_are_never_worth_less(unique, tokens, more):
    effective = effective_tokens(unique, tokens)
    assert effective <= min(tokens, 16.387757 * unique)
    assert effective_tokens(unique, tokens + more) >= effective
