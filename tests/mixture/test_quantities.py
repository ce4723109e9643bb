import pytest

from corpusclean.errors import RecipeError
from corpusclean.mixture.quantities import format_quantity, parse_quantity


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1B", 10**9),
        ("32K", 32_000),
        ("3.2M", 3_200_000),
        ("2.5b", 2_500_000_000),
        ("1.4T", 1_400_000_000_000),
        ("5.76e23", 576 * 10**21),
        ("1e21", 10**21),
        ("1E+3", 1000),
        ("1500", 1500),
        ("1_500_000", 1_500_000),
        (" 5 M ", 5_000_000),
        (125, 125),
        (1e21, 10**21),
        (5.76e23, 576 * 10**21),
        (2.5e9, 2_500_000_000),
        ("2.3e-3M", 2300),
        (".5K", 500),
    ],
)
def test_numbers_are_read_exactly(text, number):
    assert parse_quantity(text) == number


@pytest.mark.parametrize(
    "text",
    ["", "B", "1G", "1.5", "0", "-3", "1e-3", "nan", "inf", "1 2", "1,000", "1e999", "1e60", "١٢"],
)
def test_other_text_is_refused_by_name(text):
    with pytest.raises(RecipeError, match=r"^budget\.tokens: "):
        parse_quantity(text, "budget.tokens")


@pytest.mark.parametrize("value", [True, None, float("nan"), -1, 0, 0.5, "1" * 50])
def test_other_values_are_refused(value):
    with pytest.raises(RecipeError):
        parse_quantity(value)


@pytest.mark.parametrize(
    ("number", "text"),
    [(999, "999"), (1000, "1K"), (20.17e9, "20.17B"), (1.5e12, "1.5T"), (5.76e23, "5.76e23")],
)
def test_numbers_are_shown_short(number, text):
    assert format_quantity(number) == text
