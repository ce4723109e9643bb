"""Every signal, rule, margin and verdict for the documents in a file, without a run.

What needs the whole corpus is null: duplicates, and which benchmark n-grams are common phrases.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from corpusclean.cli.tables import table
from corpusclean.errors import RecipeError
from corpusclean.recipe import Recipe, load_recipe
from corpusclean.rules.applying import RuleEvaluator
from corpusclean.rules.loading import rules_for_source
from corpusclean.sources.reading import ColumnSpec, read_split
from corpusclean.sources.splits import plan_splits
from corpusclean.stages.families import families_of, family_columns
from corpusclean.stages.splits import text_columns

__all__ = ["explain_file", "show"]

_SIGNALS = ("signals", "language", "blocklists")


def explain_file(recipe_path: Path, file: Path, source: str | None) -> list[dict[str, Any]]:
    """Return an entry for each document of a file, in its order, judged as one of a source."""
    recipe = load_recipe(recipe_path)
    if not file.is_file():
        raise RecipeError(f"{file}: there is no such file; expected one with documents")
    name = source or next(iter(recipe.sources))
    if name not in recipe.sources:
        known = ", ".join(recipe.sources)
        raise RecipeError(f"--source {name}: the recipe has no such source, but {known}")
    return list(_explained(recipe, name, file))


def _explained(recipe: Recipe, name: str, file: Path) -> Iterator[dict[str, Any]]:
    source = recipe.sources[name]
    spec = ColumnSpec(source.text, source.id, source.url, source.metadata)
    families = families_of(recipe, None)
    evaluator = RuleEvaluator(rules_for_source(recipe, name))
    for split in plan_splits(name, [str(file.absolute())], "/"):
        if split.format == "text":
            spec = ColumnSpec()
        for decoded in read_split(split, spec):
            for record in decoded.quarantined:
                print(f"record {record.position} is unreadable: {record.cause}", file=sys.stderr)
            columns = {"text": text_columns(name, decoded.batch)}
            for family in families:
                if family.name in _SIGNALS:
                    texts = columns["text"].column("text")
                    columns[family.name] = family_columns(family, texts, None, columns)
            yield from _entries(columns, evaluator)


def _entries(columns: dict[str, pa.RecordBatch], evaluator: RuleEvaluator) -> Iterator[Any]:
    text = columns["text"]
    signals = pa.table(
        {
            column: columns[family].column(column)
            for family in _SIGNALS
            if family in columns
            for column in columns[family].schema.names
        }
    )
    fired = evaluator.evaluate(signals)
    for row, values in enumerate(signals.to_pylist()):
        reasons = [r for r, hit in zip(fired.reasons, fired.fired[row], strict=True) if hit]
        yield {
            "id": text.column("id")[row].as_py(),
            "uid": text.column("uid")[row].as_py().hex(),
            "language": values.get("language"),
            "signals": values,
            "rules": evaluator.explain_row(signals, fired, row),
            "cuts": [
                {"reason": cut["reason"], "start": cut["start"], "end": cut["stop"]}
                for cut in text.column("cuts")[row].as_py()
            ],
            "text_after_cuts": text.column("text")[row].as_py(),
            "kept": not reasons,
            "reasons": reasons,
            "duplicate_of": None,
            "contamination": None,
        }


def show(entries: list[dict[str, Any]]) -> str:
    """Return the documents with their rules, those that fired first, as text."""
    return "\n\n".join(_document(entry) for entry in entries) or "no documents"


def _document(entry: dict[str, Any]) -> str:
    verdict = "kept by these rules" if entry["kept"] else "dropped: " + ", ".join(entry["reasons"])
    title = f"{entry['id'] or '(no id)'}  {entry['uid']}\n{verdict}"
    rows = []
    for rule in sorted(entry["rules"], key=lambda rule: not rule["fired"]):
        state = "fired" if rule["fired"] else "undefined" if rule["undefined"] else "-"
        values = ", ".join(f"{name} = {_number(v)}" for name, v in rule["values"].items())
        rows.append([state, rule["reason"], rule["predicate"], values])
    if not rows:
        return title
    return title + "\n" + table(["", "rule", "drops when", "here"], rows)


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
