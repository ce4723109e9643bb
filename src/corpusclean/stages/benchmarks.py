"""The benchmark index of a recipe: built once, kept in the work folder under its content."""

from collections.abc import Iterator
from typing import Any

import msgspec

from corpusclean import files
from corpusclean.engine.receipts import fingerprint
from corpusclean.errors import InputError
from corpusclean.recipe import Recipe
from corpusclean.sources.reading import ColumnSpec, read_split
from corpusclean.sources.splits import plan_splits

__all__ = ["benchmark_index"]


def benchmark_index(recipe: Recipe, work: str) -> str | None:
    """Return the folder of the recipe's benchmark index, built if it is not there yet.

    None without benchmarks. The folder's name follows from the content, so that another index
    never overwrites one that parts were measured with.
    """
    if recipe.decontaminate is None:
        return None
    from corpusclean.contamination.index import BenchmarkIndex, build_index

    asked = {
        name: [list(benchmark.fields), _identity(recipe, name)]
        for name, benchmark in recipe.decontaminate.benchmarks.items()
    }
    folder = files.join(work, "benchmarks", fingerprint(asked, recipe.decontaminate.ngram))
    try:
        BenchmarkIndex.load(folder)
    except InputError:
        items = {name: _items(recipe, name) for name in asked}
        build_index(items, recipe.decontaminate.ngram).save(folder)
    return folder


def _identity(recipe: Recipe, name: str) -> list[str]:
    assert recipe.decontaminate is not None
    patterns = recipe.decontaminate.benchmarks[name].inputs
    return [files.checksum(path) for path in files.expand(patterns, recipe.folder)]


def _items(recipe: Recipe, name: str) -> list[tuple[str, str]]:
    from corpusclean.contamination.benchmarks import benchmark_items

    assert recipe.decontaminate is not None
    benchmark = recipe.decontaminate.benchmarks[name]
    records = _records(name, benchmark.inputs, list(benchmark.fields), recipe.folder)
    return benchmark_items(name, records, benchmark.fields)


def _records(
    name: str, patterns: list[str], fields: list[str], base: str
) -> Iterator[dict[str, Any]]:
    """Yield the records of a benchmark's files; an unreadable one is an error, not skipped."""
    first, *others = fields
    spec = ColumnSpec(text=first, id="id", url=None, metadata=tuple(others))
    for split in plan_splits(name, patterns, base):
        for decoded in read_split(split, spec):
            if decoded.quarantined:
                bad = decoded.quarantined[0]
                raise InputError(
                    f"benchmark {name}: {split.path}, record {bad.position}: {bad.cause}. "
                    f"Expected a record with a text in the field {first!r}: mend the file, since "
                    "an item that is not read is not looked for"
                )
            for row in decoded.batch.to_pylist():
                other = msgspec.json.decode(row["metadata"]) if row["metadata"] else {}
                yield {"id": row["id"] or None, first: row["text"], **other}
