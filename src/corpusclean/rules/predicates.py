"""Predicates: SQL expressions over signals that are either true, false or undefined.

DuckDB parses and binds them, so that a predicate means what DuckDB says. What could look beyond
the row, give another answer the next time, or reach outside (subqueries, window functions,
aggregates, the clock, random numbers, files) is refused by listing what is allowed.
"""

import contextlib
import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import duckdb

from corpusclean.errors import RecipeError
from corpusclean.recipe.problems import expected_one_of, shown

__all__ = ["Comparison", "Predicate", "compile_predicate", "open_database", "substitute"]

Operator = Literal["<", "<=", ">", ">=", "=", "<>"]

_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "~~", "!~~", "~~*", "!~~*"})
"""Operators that DuckDB parses as functions; the last four are LIKE and its kin."""
_FUNCTIONS = frozenset(
    {
        *("abs", "ceil", "ceiling", "exp", "floor", "greatest", "least", "ln", "log", "log10"),
        *("log2", "round", "sign", "sqrt", "trunc"),
        *("coalesce", "ifnull", "nullif"),
        *("contains", "ends_with", "length", "lower", "prefix", "regexp_full_match"),
        *("regexp_matches", "starts_with", "suffix", "upper"),
        *("list_contains", "list_has", "list_value"),
    }
)
_CLASSES = frozenset(
    {
        "COLUMN_REF",
        "CONSTANT",
        "COMPARISON",
        "CONJUNCTION",
        "OPERATOR",
        "FUNCTION",
        "CAST",
        "CASE",
        "TYPE",
        "BETWEEN",
    }
)
_OPERATORS: dict[str, Operator] = {
    "COMPARE_LESSTHAN": "<",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "<>",
}
_MIRRORED: dict[Operator, Operator] = {
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
    "=": "=",
    "<>": "<>",
}
_LONGEST = 2000
_SQL_TYPES = {"integer": "BIGINT", "fraction": "DOUBLE", "number": "DOUBLE", "label": "VARCHAR"}
_SOME_VALUES = {"integer": "0", "fraction": "0", "number": "0", "label": "'en'"}
_PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$\w+|[A-Za-z_]\w*", re.ASCII)
_SETTINGS = (
    "threads = 1",
    "preserve_insertion_order = true",
    # Division by zero is undefined, neither an error nor infinite.
    "ieee_floating_point_ops = false",
    "error_on_division_by_zero = false",
    "python_enable_replacements = false",
    "enable_external_access = false",
    "lock_configuration = true",
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A signal compared with a constant: `signal operator threshold`."""

    signal: str
    operator: Operator
    threshold: float
    alone: bool
    """Whether it makes the predicate true by itself."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A checked predicate: its text, the signals that it names and its simple comparisons."""

    text: str
    signals: tuple[str, ...]
    comparisons: tuple[Comparison, ...]


def open_database() -> duckdb.DuckDBPyConnection:
    """Return a database in memory, of one thread, that cannot reach outside."""
    connection = duckdb.connect(":memory:")
    for setting in _SETTINGS:
        try:
            connection.execute(f"SET {setting}")
        except duckdb.CatalogException:
            # A version that does not know the setting has only the behaviour that is asked for.
            continue
    return connection


def substitute(text: str, values: Mapping[str, Any]) -> str:
    """Return a predicate with `$name` replaced by literals, and plain names in `values` too.

    A key of `values` is a parameter as `$name`, or a name of a signal. Texts in quotes are left
    alone. Raises RecipeError for a parameter without a value.
    """

    def literal(match: re.Match[str]) -> str:
        piece = match[0]
        if piece in values:
            return values[piece] if piece[0] != "$" else _literal(values[piece])
        if piece[0] == "$":
            known = [name for name in values if name[0] == "$"]
            raise RecipeError(f"unknown parameter {piece}; {expected_one_of(piece, known)}")
        return piece

    return _PIECES.sub(literal, text)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # Written without exponent, DuckDB compares it in the precision of the signal.
        return format(Decimal(repr(value)), "f")
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "(" + ", ".join(_literal(item) for item in value) + ")"


def compile_predicate(text: str, signals: Mapping[str, str]) -> Predicate:
    """Check a predicate without parameters against signals, given as {name: kind}.

    Kinds are those of `Signal.kind`. Raises RecipeError for what is no predicate, names an unknown
    signal, is not true or false, or looks beyond the row.
    """
    return _compile(text, tuple(sorted(signals.items())))


@functools.lru_cache(maxsize=4096)
def _compile(text: str, known: tuple[tuple[str, str], ...]) -> Predicate:
    signals = dict(known)
    tree = _parse(text)
    named: dict[str, None] = {}
    for node in _nodes(tree):
        _allow(node)
        if node["class"] == "COLUMN_REF":
            named[_signal(node, signals)] = None
    if not named:
        raise RecipeError(
            f"found {shown(text)}, which names no signal; expected a condition on one"
        )
    kind = _type(text, {name: signals[name] for name in named})
    if kind != "BOOLEAN":
        raise RecipeError(
            f"found {shown(text)}, which is of type {kind}; expected true or false, as of a "
            "comparison"
        )
    return Predicate(text, tuple(named), tuple(_comparisons(tree, True)))


def _type(text: str, kinds: Mapping[str, str]) -> str:
    """Return the SQL type of an expression; RecipeError for one that can never be computed."""

    def ask(what: str, values: Mapping[str, str]) -> Any:
        row = ", ".join(
            f"{values[kind]}::{_SQL_TYPES[kind]} AS {_quoted(name)}" for name, kind in kinds.items()
        )
        found = _database().execute(f"SELECT {what}(\n{text}\n) FROM (SELECT {row}) AS signals")
        return found.fetchall()[0][0]

    try:
        kind = ask("typeof", dict.fromkeys(_SQL_TYPES, "NULL"))
        # What is undefined for these values, as the logarithm of 0, may not be for others.
        with contextlib.suppress(duckdb.OutOfRangeException, duckdb.InvalidInputException):
            ask("", _SOME_VALUES)
    except duckdb.Error as error:
        raise RecipeError(f"found {shown(text)}, which DuckDB refuses: {_first(error)}") from None
    return str(kind)


@functools.cache
def _database() -> duckdb.DuckDBPyConnection:
    return open_database()


def _parse(text: str) -> dict[str, Any]:
    """Return the syntax tree of one expression."""
    if len(text) > _LONGEST:
        raise RecipeError(f"found {len(text):,} characters, expected at most {_LONGEST:,}")
    query = f"SELECT\n{text}\nFROM signals"
    row = _database().execute("SELECT json_serialize_sql(?)", [query]).fetchone()
    try:
        parsed = json.loads(row[0]) if row else {}
    except RecursionError:
        raise RecipeError(f"found {shown(text)}, which is nested too deep") from None
    if parsed.get("error"):
        raise RecipeError(f"found {shown(text)}, which is no SQL: {parsed.get('error_message')}")
    node = parsed["statements"][0]["node"] if len(parsed["statements"]) == 1 else {}
    table = node.get("from_table") or {}
    plain = (
        node.get("type") == "SELECT_NODE"
        and len(node["select_list"]) == 1
        and not node["select_list"][0].get("alias")
        and not node["modifiers"]
        and table.get("type") == "BASE_TABLE"
        and node.get("where_clause") is None
        and not node.get("group_expressions")
        and node.get("having") is None
        and node.get("qualify") is None
        and node.get("sample") is None
    )
    if not plain:
        raise RecipeError(f"found {shown(text)}, expected one expression and nothing else")
    tree: dict[str, Any] = node["select_list"][0]
    return tree


def _first(error: Exception) -> str:
    return str(error).splitlines()[0]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every expression in a syntax tree, in the order of the text."""
    waiting: list[Any] = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if "class" in item:
                yield item
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list):
            waiting.extend(reversed(item))


def _allow(node: Mapping[str, Any]) -> None:
    kind = node["class"]
    if kind not in _CLASSES:
        what = str(node.get("type", kind)).lower().replace("_", " ")
        raise RecipeError(
            f"found a {what}; expected comparisons and arithmetic on the signals of one document"
        )
    name = node.get("function_name", "").lower()
    if kind == "FUNCTION" and name not in _FUNCTIONS | _ARITHMETIC:
        raise RecipeError(f"found the function {name}; {expected_one_of(name, sorted(_FUNCTIONS))}")


def _signal(node: Mapping[str, Any], signals: Mapping[str, str]) -> str:
    name = str(node["column_names"][-1]).lower()
    if len(node["column_names"]) != 1 or name not in signals:
        given = ".".join(node["column_names"])
        raise RecipeError(f"unknown signal {given!r}; {expected_one_of(name, sorted(signals))}")
    return name


def _comparisons(tree: Mapping[str, Any], alone: bool) -> Iterator[Comparison]:
    """Yield the comparisons of a signal with a constant, wherever they stand."""
    if tree["class"] == "COMPARISON":
        yield from _comparison(tree, alone)
        return
    joined = alone and tree.get("type") == "CONJUNCTION_OR"
    for value in tree.values():
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, dict) and "class" in child:
                yield from _comparisons(child, joined)


def _comparison(tree: Mapping[str, Any], alone: bool) -> Iterator[Comparison]:
    operator = _OPERATORS.get(tree["type"])
    if operator is None:
        return
    left, right = tree["left"], tree["right"]
    if left["class"] != "COLUMN_REF":
        left, right, operator = right, left, _MIRRORED[operator]
    threshold = _number(right)
    if left["class"] == "COLUMN_REF" and threshold is not None:
        yield Comparison(left["column_names"][-1].lower(), operator, threshold, alone)


def _number(node: Mapping[str, Any]) -> float | None:
    """Return the value of a number, with or without a sign; None for anything else."""
    if node["class"] == "FUNCTION" and node["function_name"] in ("-", "+"):
        arguments = node.get("arguments") or node.get("children") or []
        if len(arguments) == 1:
            inner = _number(arguments[0].get("expression", arguments[0]))
            return -inner if inner is not None and node["function_name"] == "-" else inner
    if node["class"] != "CONSTANT":
        return None
    if "literal" in node:  # DuckDB 2
        literal = node["literal"]
        return float(literal["text"]) if literal["kind"] in ("INTEGER", "NUMERIC") else None
    value, kind = node["value"].get("value"), node["value"]["type"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    scale = (kind.get("type_info") or {}).get("scale", 0)
    return float(Decimal(value).scaleb(-scale)) if scale else float(value)
