"""Predicates: what is allowed, what is refused, and what they look at."""

import contextlib

import pytest

from corpusclean.errors import RecipeError
from corpusclean.rules.predicates import Comparison, compile_predicate, open_database, substitute

SIGNALS = {
    "words": "integer",
    "characters": "integer",
    "digit_fraction": "fraction",
    "language": "label",
}


@pytest.mark.parametrize(
    ("text", "signals"),
    [
        ("words < 50", {"words"}),
        ("WORDS < 50", {"words"}),
        ("words < 50 OR words > 100", {"words"}),
        ("words = 0 OR characters / words > 10", {"words", "characters"}),
        ("language NOT IN ('en', 'de')", {"language"}),
        ("language LIKE 'zh%' AND NOT (words < 5)", {"language", "words"}),
        ("digit_fraction BETWEEN 0.1 AND 0.2", {"digit_fraction"}),
        ("words IS NULL", {"words"}),
        ("ln(words) > 3", {"words"}),
        ("(" * 50 + "words" + ")" * 50 + " < 1", {"words"}),
        ("CASE WHEN words > 1 THEN true ELSE false END", {"words"}),
        ("greatest(words, characters) > 3", {"words", "characters"}),
        ("round(digit_fraction, 2) > 0.5", {"digit_fraction"}),
        ("words::DOUBLE / 2 > 1 -- half", {"words"}),
        ("\n words\n < 5 \n", {"words"}),
    ],
)
def test_what_is_allowed(text, signals):
    assert set(compile_predicate(text, SIGNALS).signals) == signals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wrods < 50", "unknown signal 'wrods'; .*did you mean 'words'"),
        ("signals.words < 50", "unknown signal 'signals.words'"),
        ("rowid < 50", "unknown signal 'rowid'"),
        ("words", "of type BIGINT"),
        ("language", "of type VARCHAR"),
        ("words + 1", "of type BIGINT"),
        ("true", "names no signal"),
        ("1 < 2", "names no signal"),
        ("", "no SQL|one expression"),
        ("words <", "no SQL"),
        ("words < 5; DROP TABLE x", "no SQL"),
        ("words < 5, words > 2", "one expression"),
        ("words < 5 AS x", "one expression"),
        ("words < 5 FROM other --", "no SQL"),
        ("words < 5 UNION SELECT true", "one expression"),
        ("DISTINCT words < 5", "one expression"),
        ("words < (SELECT 5)", "subquery"),
        ("words IN (SELECT 5)", "subquery"),
        ("EXISTS (SELECT 1)", "subquery"),
        ("words < avg(words)", "function avg"),
        ("words < sum(words) OVER ()", "window"),
        ("words < random()", "function random"),
        ("words < 5 OR now() IS NULL", "function now"),
        ("current_date IS NULL", "unknown signal 'current_date'"),
        ("current_timestamp > '2020-01-01'", "current_timestamp|get_current_timestamp"),
        ("getenv('HOME') = language", "function getenv"),
        ("nextval('s') > words", "function nextval"),
        ("read_text('/etc/passwd') = language", "function read_text"),
        ("COLUMNS(*) > 3", "found a|star|unknown"),
        ("* > 3", "no SQL|found a"),
        ("#1 > 3", "positional"),
        ("words > $limit", "found a"),
        ("words > ?", "found a"),
        ("words < 'many'", "DuckDB refuses"),
        ("nosuchfunction(words)", "function nosuchfunction"),
        ("language < 5", "DuckDB refuses"),
        ("words::DATE > words", "DuckDB refuses"),
        ("abs(words, words) > 1", "DuckDB refuses"),
        ("words < 1 OR " * 400 + "words < 1", "characters, expected at most"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(RecipeError, match=message):
        compile_predicate(text, SIGNALS)


@pytest.mark.parametrize(
    "text", ["abs(" * 390 + "words" + ")" * 390 + " < 1", "- " * 900 + "words < 1", "NOT " * 490]
)
def test_deep_nesting_is_checked_or_refused(text):
    with contextlib.suppress(RecipeError):
        compile_predicate(text, SIGNALS)


@pytest.mark.parametrize(
    ("text", "comparisons"),
    [
        ("words < 50", [("words", "<", 50, True)]),
        ("50 > words", [("words", "<", 50, True)]),
        ("digit_fraction >= 0.25", [("digit_fraction", ">=", 0.25, True)]),
        ("words <> -3", [("words", "<>", -3, True)]),
        ("words < 1e3", [("words", "<", 1000, True)]),
        ("words < 3 OR words > 10", [("words", "<", 3, True), ("words", ">", 10, True)]),
        (
            "words < 3 AND characters > 10",
            [("words", "<", 3, False), ("characters", ">", 10, False)],
        ),
        (
            "words < 3 OR (words > 9 AND digit_fraction > 1)",
            [("words", "<", 3, True), ("words", ">", 9, False), ("digit_fraction", ">", 1, False)],
        ),
        ("NOT words IN (1, 2)", []),
        ("words < characters", []),
        ("language = 'en'", []),
        ("words + 1 < 5", []),
    ],
)
def test_comparisons(text, comparisons):
    expected = [Comparison(*c) for c in comparisons]
    assert list(compile_predicate(text, SIGNALS).comparisons) == expected


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("a IN $keep", {"$keep": ("en", "de")}, "a IN ('en', 'de')"),
        ("a < $x", {"$x": 0.65}, "a < 0.65"),
        ("a < $x", {"$x": 1e-7}, "a < 0.0000001"),
        ("a < $x", {"$x": 3}, "a < 3"),
        ("a = $x", {"$x": "it's"}, "a = 'it''s'"),
        ("a = '$x' OR a = \"$x\"", {}, "a = '$x' OR a = \"$x\""),
        (
            "hits > $n AND other_hits > 1",
            {"$n": 0, "hits": "list_hits"},
            "list_hits > 0 AND other_hits > 1",
        ),
        ("a = 'hits'", {"hits": "list_hits"}, "a = 'hits'"),
    ],
)
def test_substitute(text, values, expected):
    assert substitute(text, values) == expected


def test_substitute_names_what_there_is():
    with pytest.raises(RecipeError, match=r"unknown parameter \$kep; .*did you mean '\$keep'"):
        substitute("a IN $kep", {"$keep": ("en",), "$min": 1})


def test_the_database_cannot_reach_outside(tmp_path):
    import duckdb

    (tmp_path / "a.csv").write_text("a\n1\n")
    database = open_database()
    for sql in (
        f"SELECT * FROM '{tmp_path}/a.csv'",
        f"COPY (SELECT 1) TO '{tmp_path}/b.csv'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
    ):
        with pytest.raises(duckdb.Error):
            database.execute(sql)
