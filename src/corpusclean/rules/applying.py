"""Rule sets applied to signals: one query a batch, a row of truth values for every document."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from corpusclean.errors import RecipeError
from corpusclean.rules.predicates import Comparison, open_database
from corpusclean.rules.rule_sets import RuleSet

__all__ = ["Fired", "RuleEvaluator", "first_reason"]


@dataclass(frozen=True, slots=True)
class Fired:
    """Which rules fired on which documents.

    `fired` and `undefined` are bool[n, r], a row for each document in the order of the batch, a
    column for each rule in the order of decisions, named by `reasons`. A rule whose predicate is
    NULL is undefined and has not fired.
    """

    fired: np.ndarray
    undefined: np.ndarray
    reasons: tuple[str, ...]


def first_reason(fired: Fired | np.ndarray) -> np.ndarray:
    """Return for every document the column of the first rule that fired, int64[n]; -1 for none."""
    table = fired.fired if isinstance(fired, Fired) else fired
    if table.shape[1] == 0:
        return np.full(len(table), -1, np.int64)
    return np.where(table.any(axis=1), table.argmax(axis=1), -1).astype(np.int64)


class RuleEvaluator:
    """Applies rule sets, in their order, to batches of signals. Not for several threads at once."""

    def __init__(self, rule_sets: Sequence[RuleSet]) -> None:
        self._rules = tuple(rule for rule_set in rule_sets for rule in rule_set.rules)
        self._signals = sorted({name for rule in self._rules for name in rule.signals})
        self._database: duckdb.DuckDBPyConnection | None = None
        self.reasons = tuple(rule.reason for rule in self._rules)
        """The reasons of the rules, in the order of decisions."""

    def evaluate(self, signals: pa.Table | pa.RecordBatch) -> Fired:
        """Apply every rule to a batch: a column for each signal, a row for each document.

        Raises RecipeError if a rule looks at a signal that the batch does not have.
        """
        shape = (signals.num_rows, len(self._rules))
        if not signals.num_rows or not self._rules:
            return Fired(np.zeros(shape, bool), np.zeros(shape, bool), self.reasons)
        answers = self._query(self._needed(signals))
        fired = np.empty(shape, bool, order="F")
        undefined = np.empty(shape, bool, order="F")
        for column, answer in enumerate(answers.columns):
            undefined[:, column] = answer.is_null().to_numpy()
            fired[:, column] = answer.fill_null(False).to_numpy()
        return Fired(fired, undefined, self.reasons)

    def explain_row(
        self, signals: pa.Table | pa.RecordBatch, fired: Fired, row: int
    ) -> list[dict[str, Any]]:
        """Return what every rule says of one document of a batch that was evaluated.

        For each rule: `reason`, `predicate`, `fired`, `undefined`, `values` (each signal it looks
        at), `margins`: for each of these value - threshold, if it is compared with a constant,
        and of several constants the nearest; else None.
        """
        needed = self._needed(signals).slice(row, 1)
        values = {name: needed.column(name)[0].as_py() for name in self._signals}
        return [
            {
                "reason": rule.reason,
                "predicate": rule.predicate,
                "fired": bool(fired.fired[row, column]),
                "undefined": bool(fired.undefined[row, column]),
                "values": {name: values[name] for name in rule.signals},
                "margins": {
                    name: _margin(values[name], name, rule.comparisons) for name in rule.signals
                },
            }
            for column, rule in enumerate(self._rules)
        ]

    def _needed(self, signals: pa.Table | pa.RecordBatch) -> pa.Table:
        table = pa.Table.from_batches([signals]) if isinstance(signals, pa.RecordBatch) else signals
        present = set(table.column_names)
        for rule in self._rules:
            missing = [name for name in rule.signals if name not in present]
            if missing:
                raise RecipeError(
                    f"{rule.reason} looks at {', '.join(missing)}, which was not measured; "
                    f"found {', '.join(sorted(present))}"
                )
        return table.select(self._signals)

    def _query(self, table: pa.Table) -> pa.Table:
        """Return a column of true, false or NULL for each rule, in the table's order of rows."""
        if self._database is None:
            self._database = open_database()
        database = self._database
        # An expression that fails on a document, as by overflow, is undefined there.
        columns = ", ".join(
            f"TRY(\n{rule.predicate}\n) AS r{number}" for number, rule in enumerate(self._rules)
        )
        database.register("signals", table)
        try:
            found = database.sql(f"SELECT {columns} FROM signals")
            # DuckDB 1 names it otherwise.
            fetch = getattr(found, "to_arrow_table", None) or found.fetch_arrow_table
            return fetch()
        finally:
            database.unregister("signals")


def _margin(value: Any, name: str, comparisons: Sequence[Comparison]) -> float | None:
    if isinstance(value, str) or value is None:
        return None
    distances = [value - found.threshold for found in comparisons if found.signal == name]
    return min(distances, key=abs) if distances else None
