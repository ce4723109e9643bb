"""The benchmark index of a recipe: built once, kept in the work folder under its content."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from corpusclean import files
from corpusclean.contamination.benchmarks import benchmark_items
from corpusclean.contamination.index import BenchmarkIndex, build_index
from corpusclean.engine.receipts import fingerprint
from corpusclean.errors import CorpuscleanError, InputError
from corpusclean.recipe import Recipe
from corpusclean.sources.compression import Damage, decompress
from corpusclean.sources.formats import Compression, format_of

__all__ = ["benchmark_index", "benchmark_problems"]


def benchmark_index(recipe: Recipe, work: str) -> str | None:
    """Return the folder of the recipe's benchmark index, built if it is not there yet.

    None without benchmarks. The folder's name follows from the content, so that another index
    never overwrites one that parts were measured with.
    """
    if recipe.decontaminate is None:
        return None
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


def benchmark_problems(recipe: Recipe) -> list[str]:
    """Return what is wrong with the benchmarks of a recipe, by reading their files."""
    if recipe.decontaminate is None:
        return []
    try:
        for name in recipe.decontaminate.benchmarks:
            build_index({name: _items(recipe, name)}, recipe.decontaminate.ngram)
    except CorpuscleanError as error:
        return [str(error)]
    return []


def _items(recipe: Recipe, name: str) -> list[tuple[str, str]]:
    assert recipe.decontaminate is not None
    benchmark = recipe.decontaminate.benchmarks[name]
    paths = files.expand(benchmark.inputs, recipe.folder)
    records = (record for path in paths for record in _records(name, path))
    return benchmark_items(name, records, benchmark.fields)


def _records(name: str, path: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a benchmark's file; an unreadable one is an error, never passed over."""
    known, compression = format_of(path)
    try:
        if known == "parquet":
            with files.open_read(path) as file:
                yield from pq.ParquetFile(file).read().to_pylist()
            return
        if known == "text":
            raise InputError(
                f"benchmark {name}: {path} is plain text, which has no fields; expected JSONL or "
                "Parquet with a record for each item"
            )
        for number, line in enumerate(_content(name, path, compression).splitlines(), 1):
            if line.strip():
                yield _record(line, f"benchmark {name}: {path}, line {number}")
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"benchmark {name}: {path} cannot be read: {error}") from error


def _content(name: str, path: str, compression: Compression | None) -> bytes:
    """Return a benchmark's file, unpacked: benchmarks are small."""
    if compression is None:
        return files.read_bytes(path)
    pieces = []
    with files.open_read(path) as file:
        for piece in decompress(file, compression):
            if isinstance(piece, Damage):
                raise InputError(f"benchmark {name}: {path} is damaged: {piece.detail}")
            pieces.append(piece)
    return b"".join(pieces)


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{where}: {error}. Expected a JSON object: mend the file, since an item that is not "
            "read is not looked for"
        ) from error
    if not isinstance(record, dict):
        raise InputError(f"{where}: found {type(record).__name__}, expected a JSON object")
    return record
