"""From YAML data to models: every entry that does not fit is named, with line and expectation."""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from corpusclean.recipe.problems import Keys, Problem, expected_one_of, shown

__all__ = ["fit"]

T = TypeVar("T")

_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list",
    "finite_number": "a finite number",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than": "a number below {lt:g}",
    "less_than_equal": "a number of at most {le:g}",
    "too_short": "at least {min_length}",
    "string_too_short": "a text that is not empty",
}


def fit(kind: Any, data: Any, keys: Keys = ()) -> tuple[Any, list[Problem]]:
    """Return data as a model or another type, and no problems; or None, and what is wrong.

    `keys` lead to the data, for messages.
    """
    try:
        return TypeAdapter(kind).validate_python(data), []
    except ValidationError as error:
        return None, [_problem(kind, dict(e), keys) for e in error.errors(include_url=False)]


def _problem(kind: Any, error: Mapping[str, Any], above: Keys) -> Problem:
    loc = error["loc"]
    code, context, found = error["type"], error.get("ctx", {}), error["input"]
    if loc and loc[-1] == "[key]":
        loc = loc[:-1]
    keys = (*above, *loc)
    if code == "extra_forbidden":
        known = list(_type_at(kind, loc[:-1]).model_fields)
        return Problem(f"unknown key; {expected_one_of(str(loc[-1]), known)}", keys)
    if code == "missing":
        field = _type_at(kind, loc[:-1]).model_fields[loc[-1]]
        return Problem(f"missing; expected {_described(field.annotation)}", keys)
    if code == "literal_error":
        options = _literals(_type_at(kind, loc))
        return Problem(f"found {shown(found)}, {expected_one_of(str(found), options)}", keys)
    if code == "value_error":
        return Problem(str(context["error"]), keys)
    if code in _EXPECTED:
        expected = _EXPECTED[code].format(**context)
        if code == "string_type" and isinstance(found, bool | int | float):
            expected += " (in quotes)"
        return Problem(f"found {shown(found)}, expected {expected}", keys)
    return Problem(f"found {shown(found)}: {error['msg']}", keys)


def _bare(kind: Any) -> Any:
    """Return a type without Annotated and without None."""
    while True:
        origin = get_origin(kind)
        if origin is Annotated:
            kind = get_args(kind)[0]
        elif origin in (Union, UnionType):
            kind = next(option for option in get_args(kind) if option is not type(None))
        else:
            return kind


def _type_at(kind: Any, loc: tuple[Any, ...]) -> Any:
    """Return the type of an entry by the way to it."""
    kind = _bare(kind)
    for step in loc:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            kind = _bare(kind.model_fields[step].annotation)
        elif get_origin(kind) is dict:
            kind = _bare(get_args(kind)[1])
        elif get_origin(kind) is tuple:
            kind = _bare(get_args(kind)[0])
    return kind


def _literals(kind: Any) -> list[str]:
    return [str(option) for option in get_args(kind)]


def _described(kind: Any) -> str:
    kind = _bare(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "a mapping with " + ", ".join(kind.model_fields)
    if get_origin(kind) is dict:
        return "a mapping"
    if get_origin(kind) is tuple:
        return "a text or a list of texts"
    return {str: "a text", int: "a whole number", float: "a number"}.get(kind, "a value")
