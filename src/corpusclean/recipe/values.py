"""The values of a recipe: what each kind may be, and how it is brought into one form.

Each function takes a value and returns it in the form that the models hold, or raises ValueError
with what was found and what was expected.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from corpusclean.errors import RecipeError
from corpusclean.mixture.quantities import parse_quantity
from corpusclean.recipe.problems import shown

__all__ = [
    "OFF",
    "blocklist_name",
    "file_name",
    "filter_entry",
    "is_blocklist_name",
    "language_code",
    "listed",
    "off_is_none",
    "predicate",
    "quantity",
    "switch",
    "text_value",
    "unique",
]

OFF = "off"

_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}", re.ASCII)
_COLUMN_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2,3}|unknown", re.ASCII)
_ON, _OFF = ("on", "true"), (OFF, "false")


def _is_word(value: Any, words: Sequence[str]) -> bool:
    return isinstance(value, str) and value.lower() in words


def text_value(value: str) -> str:
    """Return a text that is not blank and has no control characters (a path, a column's name)."""
    if not value.strip():
        raise ValueError(f"found {shown(value)}, expected a text that is not blank")
    if any(ord(character) < 32 for character in value):
        raise ValueError(f"found {shown(value)}, expected a text without control characters")
    return value


def file_name(value: str) -> str:
    """Return a name that can be a part of file names on every system."""
    if not _FILE_NAME.fullmatch(value):
        raise ValueError(
            f"found the name {shown(value)}, expected up to 100 of A-Z a-z 0-9 _ . - and no dot "
            "in front, since files are named after it"
        )
    return value


def is_blocklist_name(value: str) -> bool:
    """Tell whether a name can be a part of a signal's name."""
    return _COLUMN_NAME.fullmatch(value) is not None


def blocklist_name(value: str) -> str:
    """Return a name that can be a part of a signal's name."""
    if not is_blocklist_name(value):
        raise ValueError(
            f"found the name {shown(value)}, expected up to 60 of a-z 0-9 _ with a letter in "
            "front, since a signal is named after it"
        )
    return value


def language_code(value: str) -> str:
    """Return a language code as fastText's lid.176 gives them."""
    if not _LANGUAGE.fullmatch(value):
        raise ValueError(
            f"found {shown(value)}, expected a language code of two or three letters such as en, "
            "zh, ceb, or unknown"
        )
    return value


def listed(value: Any) -> Any:
    """Return a list as a tuple, and a single text as a tuple of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def unique(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values none of which stands twice."""
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ValueError(f"found {shown(twice[0])} more than once, expected each once")
    return values


def quantity(value: Any) -> int:
    """Return a whole number above zero, written as 125M, 32K, 2.5B or 5.76e23."""
    if not isinstance(value, str | int | float):
        raise ValueError(f"found {shown(value)}, expected a number such as 125M, 32K or 5.76e23")
    try:
        return parse_quantity(value, "quantity")
    except RecipeError as error:
        raise ValueError(str(error).removeprefix("quantity: ")) from None


def switch(value: Any) -> Any:
    """Return a truth value, written as true, false, on or off."""
    if _is_word(value, _ON):
        return True
    return False if _is_word(value, _OFF) else value


def off_is_none(value: Any) -> Any:
    """Return None for a section that is switched off, an empty one for one switched on."""
    if value is False or _is_word(value, _OFF):
        return None
    return {} if value is True or _is_word(value, _ON) else value


def predicate(value: Any) -> str:
    """Return a rule's predicate, or `off`."""
    if value is False or _is_word(value, _OFF):
        return OFF
    if not isinstance(value, str):
        raise ValueError(
            f'found {shown(value)}, expected a predicate in SQL such as "words < 50", or off'
        )
    return text_value(" ".join(value.split()))


def filter_entry(value: Any) -> Any:
    """Return an entry of `filters` as {rule set: overrides}; it may be the name alone."""
    if isinstance(value, str):
        return {text_value(value): {}}
    if isinstance(value, Mapping) and len(value) != 1:
        raise ValueError(
            f"found {len(value)} names in one entry, expected one: "
            '- gopher_quality: {too_few_words: "words < 20"}'
        )
    return value
