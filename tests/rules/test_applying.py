"""Rules applied to batches: what fires, what is undefined, and in which order."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.errors import RecipeError
from corpusclean.rules.applying import Fired, RuleEvaluator, first_reason
from corpusclean.rules.predicates import compile_predicate
from corpusclean.rules.rule_sets import Rule, RuleSet

KINDS = {"words": "integer", "share": "fraction", "language": "label", "other": "integer"}


def rule_set(name: str, **predicates: str) -> RuleSet:
    rules = []
    for rule, text in predicates.items():
        found = compile_predicate(text, KINDS)
        rules.append(Rule(rule, f"{name}.{rule}", text, found.signals, found.comparisons))
    return RuleSet(name, "test", "document", None, None, {}, tuple(rules))


def fire(text: str, **columns) -> tuple[list[bool], list[bool]]:
    result = RuleEvaluator([rule_set("t", r=text)]).evaluate(pa.table(columns))
    return result.fired[:, 0].tolist(), result.undefined[:, 0].tolist()


WORDS = pa.array([49, 50, 51, None], pa.int64())


@pytest.mark.parametrize(
    ("text", "fired", "undefined"),
    [
        ("words < 50", [1, 0, 0, 0], [0, 0, 0, 1]),
        ("words <= 50", [1, 1, 0, 0], [0, 0, 0, 1]),
        ("words > 50", [0, 0, 1, 0], [0, 0, 0, 1]),
        ("words >= 50", [0, 1, 1, 0], [0, 0, 0, 1]),
        ("words = 50", [0, 1, 0, 0], [0, 0, 0, 1]),
        ("NOT words = 50", [1, 0, 1, 0], [0, 0, 0, 1]),
        ("words IS NULL", [0, 0, 0, 1], [0, 0, 0, 0]),
        ("words IS NULL OR words < 50", [1, 0, 0, 1], [0, 0, 0, 0]),
        ("words < 50 OR words > 50", [1, 0, 1, 0], [0, 0, 0, 1]),
        ("coalesce(words, 0) < 50", [1, 0, 0, 1], [0, 0, 0, 0]),
        ("100 / (words - 50) > 0", [0, 0, 1, 0], [0, 1, 0, 1]),
        ("words % (words - 50) = 0", [1, 0, 1, 0], [0, 1, 0, 1]),
        ("words * 9223372036854775807 > words", [0, 0, 0, 0], [1, 1, 1, 1]),
        ("ln(words - 50) >= 0", [0, 0, 1, 0], [1, 1, 0, 1]),
        ("sqrt(words - 50) >= 0", [0, 1, 1, 0], [1, 0, 0, 1]),
    ],
)
def test_truth_and_undefined(text, fired, undefined):
    assert fire(text, words=WORDS) == ([bool(x) for x in fired], [bool(x) for x in undefined])


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("limit", [0.1, 0.3, 0.65, 0.7, 0.9])
def test_a_value_at_the_limit_is_the_limit(kind, limit):
    """0.65 in SQL is the same number as the signal 0.65, in whatever precision that is kept."""
    share = pa.array([limit], kind)
    assert fire(f"share < {limit}", share=share)[0] == [False]
    assert fire(f"share > {limit}", share=share)[0] == [False]
    assert fire(f"share <= {limit}", share=share)[0] == [True]


def test_a_quotient_at_the_limit_is_the_limit():
    share = pa.array([5 / 50, 3 / 10, 13 / 20])
    assert fire("share > 0.1", share=share)[0] == [False, True, True]
    assert fire("share > 0.3", share=share)[0] == [False, False, True]


def test_the_order_of_rules_is_that_of_decisions():
    sets = [rule_set("b", two="words > 1", one="words > 0"), rule_set("a", one="words > 2")]
    result = RuleEvaluator(sets).evaluate(pa.table({"words": [0, 1, 2, 3]}))
    assert result.reasons == ("b.two", "b.one", "a.one")
    assert first_reason(result).tolist() == [-1, 1, 0, 0]
    assert result.fired.sum(axis=0).tolist() == [2, 3, 1]


@pytest.mark.parametrize("rows", [1, 2047, 2048, 2049, 70_000, 300_000])
def test_rows_keep_their_order(rows):
    values = (np.arange(rows) * 2654435761) % 1000
    table = pa.table({"words": values, "other": np.arange(rows)})
    sets = [rule_set("t", a="words < 500", b="other % 7 = 0", c="other >= 5")]
    fired = RuleEvaluator(sets).evaluate(table).fired
    expected = np.column_stack([values < 500, np.arange(rows) % 7 == 0, np.arange(rows) >= 5])
    assert np.array_equal(fired, expected)


def test_chunks_and_batches_are_the_same():
    whole = pa.table({"words": pa.array(range(100), pa.int64())})
    chunked = pa.concat_tables([whole.slice(0, 33), whole.slice(33, 1), whole.slice(34)])
    evaluator = RuleEvaluator([rule_set("t", a="words < 50")])
    expected = evaluator.evaluate(whole).fired
    assert np.array_equal(evaluator.evaluate(chunked).fired, expected)
    assert np.array_equal(evaluator.evaluate(whole.to_batches()[0]).fired, expected)
    assert np.array_equal(evaluator.evaluate(whole.slice(10, 20)).fired, expected[10:30])


def test_nothing_to_do():
    none = RuleEvaluator([]).evaluate(pa.table({"words": [1, 2]}))
    assert none.fired.shape == (2, 0) and first_reason(none).tolist() == [-1, -1]
    empty = RuleEvaluator([rule_set("t", a="words < 5")]).evaluate(
        pa.table({"words": pa.array([], pa.int64())})
    )
    assert empty.fired.shape == (0, 1) and first_reason(empty).tolist() == []


def test_other_columns_do_not_matter():
    table = pa.table({"words": [1], "odd": [[1, 2]], "r0": [True], "signals": ["x"]})
    assert RuleEvaluator([rule_set("t", a="words < 5")]).evaluate(table).fired.tolist() == [[True]]


def test_labels_in_every_encoding():
    labels = pa.array(["en", "zh", None, "unknown"])
    expected = ([False, True, False, True], [False, False, True, False])
    for column in (labels, labels.cast(pa.large_string()), labels.dictionary_encode()):
        assert fire("language NOT IN ('en')", language=column) == expected


def test_a_signal_that_was_not_measured():
    evaluator = RuleEvaluator([rule_set("t", a="words < 5")])
    with pytest.raises(RecipeError, match=r"t\.a looks at words, which was not measured"):
        evaluator.evaluate(pa.table({"other": [1]}))


def test_explain_row():
    sets = [
        rule_set(
            "t", low="words < 50", range="share < 0.2 OR share > 0.5", label="language = 'en'"
        ),
        rule_set("u", sum="words + other > 3"),
    ]
    table = pa.table(
        {"words": [10, 60], "share": [0.4, None], "language": ["en", "de"], "other": [1, 1]}
    )
    evaluator = RuleEvaluator(sets)
    fired = evaluator.evaluate(table)
    first = evaluator.explain_row(table, fired, 0)
    assert [rule["reason"] for rule in first] == ["t.low", "t.range", "t.label", "u.sum"]
    assert first[0] == {
        "reason": "t.low",
        "predicate": "words < 50",
        "fired": True,
        "undefined": False,
        "values": {"words": 10},
        "margins": {"words": -40},
    }
    assert first[1]["margins"] == {"share": pytest.approx(-0.1)}
    assert first[2]["fired"] and first[2]["margins"] == {"language": None}
    assert first[3]["values"] == {"words": 10, "other": 1}
    second = evaluator.explain_row(table, fired, 1)
    assert second[1]["undefined"] and not second[1]["fired"]
    assert second[1]["values"] == {"share": None} and second[1]["margins"] == {"share": None}


def test_first_reason_of_an_array():
    fired = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 1]], bool)
    assert first_reason(fired).tolist() == [1, -1, 0]
    assert first_reason(Fired(fired, fired, ("a", "b", "c"))).dtype == np.int64


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(-(2**62), 2**62)), max_size=40),
    st.integers(-(2**62), 2**62),
)
def test_a_comparison_is_that_of_python(values, limit):
    fired, undefined = fire(f"words < {limit}", words=pa.array(values, pa.int64()))
    assert fired == [value is not None and value < limit for value in values]
    assert undefined == [value is None for value in values]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 50), st.lists(st.integers(0, 100), max_size=60))
def test_rows_are_independent(start, values):
    """A document's verdict does not depend on what stands beside it."""
    evaluator = RuleEvaluator([rule_set("t", a="words < 50", b="words % 3 = 0")])
    whole = evaluator.evaluate(pa.table({"words": pa.array(values, pa.int64())})).fired
    part = evaluator.evaluate(pa.table({"words": pa.array(values[start:], pa.int64())})).fired
    assert np.array_equal(whole[start:], part)
