"""Items of a benchmark, from the records of its files."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from corpusclean.errors import RecipeError

__all__ = ["Item", "benchmark_items"]

Item = tuple[str, str]
"""The id of an item and its text."""


def benchmark_items(
    name: str, records: Iterable[Mapping[str, Any]], fields: Sequence[str], id_field: str = "id"
) -> list[Item]:
    """Return the items of benchmark `name`: of each record its id and the text of its `fields`.

    The fields are joined by newlines, in the order given; a list (of choices) is joined likewise,
    a missing or null value in one record is passed over. A record without `id_field` is named by
    its number, from 0. Raises RecipeError for a field that no record has, and where there is no
    record at all.
    """
    items: list[Item] = []
    seen: set[str] = set()
    for number, record in enumerate(records):
        seen.update(record)
        parts = [_text(record[field]) for field in fields if record.get(field) is not None]
        identity = record.get(id_field)
        items.append((str(number if identity is None else identity), "\n".join(parts)))
    if not items:
        raise RecipeError(
            f"decontaminate.benchmarks.{name}: its files hold no record; "
            "check the path, or take the benchmark out of the recipe"
        )
    for field in fields:
        if field not in seen:
            nearest = get_close_matches(field, sorted(seen), 1)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise RecipeError(
                f"decontaminate.benchmarks.{name}.fields: no record has the field {field!r}; "
                f"found {', '.join(sorted(seen))}{hint}"
            )
    return items


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(_text(part) for part in value.values() if part is not None)
    if isinstance(value, Sequence):
        return "\n".join(_text(part) for part in value if part is not None)
    return str(value)
