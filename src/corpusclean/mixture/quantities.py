"""Numbers as people write them: 125M, 32K, 2.5B, 5.76e23. K, M, B and T are powers of 1000."""

import re
from fractions import Fraction

from corpusclean.errors import RecipeError

__all__ = ["format_quantity", "parse_quantity"]

_POWERS = {"": 0, "K": 3, "M": 6, "B": 9, "T": 12}
_FORM = re.compile(r"(\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,3}))?\s*([KMBT]?)", re.ASCII)
_MOST_DIGITS = 40


def parse_quantity(value: str | int | float, name: str = "quantity") -> int:
    """Return a whole, positive number from its text, or from a number that YAML already read.

    `name` says in messages what the number is for. Lower-case suffixes are accepted. Raises
    RecipeError for anything else, for a fraction of one, and for more than 40 digits.
    """
    text = str(value).strip()
    match = None if isinstance(value, bool) else _FORM.fullmatch(text.upper())
    if match is None:
        raise RecipeError(
            f"{name}: found {value!r}, expected a positive number such as 125M, 32K, 2.5B or "
            "5.76e23 (K, M, B, T are powers of 1000)"
        )
    digits, exponent, suffix = match.groups()
    power = int(exponent or 0) + _POWERS[suffix]
    if power + len(digits) > _MOST_DIGITS or power < -_MOST_DIGITS:
        raise RecipeError(
            f"{name}: {value!r} is out of range, expected at most {_MOST_DIGITS} digits"
        )
    exact = Fraction(digits.replace("_", "")) * Fraction(10) ** power
    if exact.denominator != 1 or exact == 0:
        raise RecipeError(f"{name}: found {value!r}, expected a whole number above zero")
    return exact.numerator


def format_quantity(number: float) -> str:
    """Return a number in four digits with its suffix, such as 20.17B; 1e15 and above as 5.76e23."""
    if number >= 1e15:
        return f"{number:.4g}".replace("e+", "e")
    for suffix in ("T", "B", "M", "K"):
        unit = 10.0 ** _POWERS[suffix]
        if number >= unit:
            return f"{number / unit:.4g}{suffix}"
    return f"{number:.4g}"
