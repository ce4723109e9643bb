"""The index of benchmark n-grams: built once, saved with checksums, memory-mapped by workers.

A saved index is a folder of `.npy` arrays and `index.json`, which is written last and names the
benchmarks, their items and the checksum of every array.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import xxhash

from corpusclean import files
from corpusclean.contamination.benchmarks import Item
from corpusclean.errors import InputError, RecipeError
from corpusclean.text.folding import NORMALISATION
from corpusclean.text.ngram_table import NgramTable, gram_keys
from corpusclean.text.normalise import read_only, tokens

__all__ = ["BenchmarkIndex", "build_index"]

_FORMAT = 1
_DESCRIPTION = "index.json"
_ARRAYS = ("grams", "directory", "bitmap", "gram_offsets", "gram_items")


@dataclass(frozen=True)
class BenchmarkIndex:
    """The n-grams of all benchmarks and the items that hold each.

    Items are numbered benchmark after benchmark, both in order of their names: those of benchmark
    b are `[item_offsets[b], item_offsets[b + 1])`. The items that hold gram g of `table.grams` are
    `gram_items[gram_offsets[g]:gram_offsets[g + 1]]` (uint32 both), ascending. `item_tokens` is
    the length of every item; an item shorter than `ngram` tokens holds no gram and cannot be
    checked. `checksum` is that of the benchmarks' content, the normalisation and `ngram`; it does
    not depend on the order of files, records or names.
    """

    ngram: int
    benchmarks: tuple[str, ...]
    item_ids: tuple[str, ...]
    item_offsets: np.ndarray
    item_tokens: np.ndarray
    table: NgramTable
    gram_offsets: np.ndarray
    gram_items: np.ndarray
    checksum: str

    @cached_property
    def item_benchmark(self) -> np.ndarray:
        """The number of the benchmark of every item, int64."""
        return np.repeat(np.arange(len(self.benchmarks)), np.diff(self.item_offsets))

    @property
    def items(self) -> dict[str, int]:
        """How many items each benchmark has."""
        counts = np.diff(self.item_offsets)
        return {name: int(counts[b]) for b, name in enumerate(self.benchmarks)}

    @property
    def uncheckable(self) -> dict[str, list[str]]:
        """The ids of the items of each benchmark that are shorter than an n-gram."""
        short = self.item_tokens < self.ngram
        return {
            name: [self.item_ids[i] for i in range(begin, end) if short[i]]
            for name, begin, end in zip(
                self.benchmarks, self.item_offsets[:-1], self.item_offsets[1:], strict=True
            )
        }

    def gram_pairs(self, grams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return for keys of the index (uint64[m]) all pairs: place in `grams`, item number.

        Raises InputError for a key that is not in the index.
        """
        places = np.searchsorted(self.table.grams, grams)
        known = self.table.grams[np.minimum(places, len(self.table.grams) - 1)] == grams
        if not known.all():
            raise InputError(
                f"{np.count_nonzero(~known)} of {len(grams)} n-grams are not in this benchmark "
                "index; the hits were found with another one: find them again"
            )
        begins = self.gram_offsets[places].astype(np.int64)
        counts = self.gram_offsets[places + 1].astype(np.int64) - begins
        of = np.repeat(np.arange(len(grams)), counts)
        within = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        return of, self.gram_items[begins[of] + within].astype(np.int64)

    def save(self, directory: str | Path) -> None:
        """Write the index into a folder, `index.json` last."""
        checksums = {}
        for name, array in self._arrays().items():
            with files.publishing(files.join(directory, f"{name}.npy")) as file:
                np.save(file, array)
            checksums[name] = file.checksum
        description = {
            "format": _FORMAT,
            "normalisation": NORMALISATION,
            "ngram": self.ngram,
            "checksum": self.checksum,
            "arrays": checksums,
            "benchmarks": self.benchmarks,
            "item_ids": self.item_ids,
            "item_offsets": self.item_offsets.tolist(),
            "item_tokens": self.item_tokens.tolist(),
        }
        data = json.dumps(description, ensure_ascii=False).encode()
        files.publish_bytes(files.join(directory, _DESCRIPTION), data)

    @classmethod
    def load(cls, directory: str | Path, mmap: bool = True) -> "BenchmarkIndex":
        """Read a saved index; with `mmap`, a local one is mapped and shared between processes.

        Raises InputError where the index is missing, damaged, or of another normalisation.
        """
        path = files.join(directory, _DESCRIPTION)
        try:
            found = json.loads(files.read_bytes(path))
        except (FileNotFoundError, ValueError) as error:
            raise InputError(f"{path}: no readable benchmark index; build it again") from error
        expected = {"format": _FORMAT, "normalisation": NORMALISATION}
        for key, value in expected.items():
            if found.get(key) != value:
                raise InputError(
                    f"{path}: {key} is {found.get(key)!r}, expected {value!r}; "
                    "the index is of another version: build it again"
                )
        arrays = {
            name: _load_array(files.join(directory, f"{name}.npy"), found["arrays"][name], mmap)
            for name in _ARRAYS
        }
        return cls(
            ngram=found["ngram"],
            benchmarks=tuple(found["benchmarks"]),
            item_ids=tuple(found["item_ids"]),
            item_offsets=np.array(found["item_offsets"], np.int64),
            item_tokens=np.array(found["item_tokens"], np.int64),
            table=NgramTable(arrays["grams"], arrays["directory"], arrays["bitmap"]),
            gram_offsets=arrays["gram_offsets"],
            gram_items=arrays["gram_items"],
            checksum=found["checksum"],
        )

    def _arrays(self) -> dict[str, np.ndarray]:
        return {
            "grams": self.table.grams,
            "directory": self.table.directory,
            "bitmap": self.table.bitmap,
            "gram_offsets": self.gram_offsets,
            "gram_items": self.gram_items,
        }


def build_index(benchmarks: Mapping[str, Sequence[Item]], ngram: int = 13) -> BenchmarkIndex:
    """Index the n-grams of benchmarks: a name for each, and its items as (id, text).

    Texts are normalised as training text is. Raises RecipeError where there is no benchmark, or
    one whose items are all shorter than `ngram` tokens: it could never be found.
    """
    if not benchmarks:
        raise RecipeError("decontaminate.benchmarks: found none, expected at least one benchmark")
    if ngram < 1:
        raise RecipeError(f"decontaminate.ngram: found {ngram}, expected at least 1")
    names = sorted(benchmarks)
    items = [item for name in names for item in sorted(benchmarks[name])]
    stream = tokens(pa.array([text for _, text in items], pa.large_string()))
    item_tokens = np.diff(stream.offsets)
    offsets = np.cumsum([0, *(len(benchmarks[name]) for name in names)])
    for name, begin, end in zip(names, offsets[:-1], offsets[1:], strict=True):
        longest = int(item_tokens[begin:end].max(initial=0))
        if longest < ngram:
            raise RecipeError(
                f"decontaminate.benchmarks.{name}: none of its {end - begin} items has "
                f"{ngram} words (the longest has {longest}), so none can be found; "
                "name other fields, or a smaller ngram"
            )
    keys, counts = gram_keys(stream, ngram)
    grams, gram_offsets, gram_items = _grouped(keys, np.repeat(np.arange(len(items)), counts))
    return BenchmarkIndex(
        ngram=ngram,
        benchmarks=tuple(names),
        item_ids=tuple(identity for identity, _ in items),
        item_offsets=offsets,
        item_tokens=item_tokens,
        table=NgramTable.of(grams),
        gram_offsets=gram_offsets,
        gram_items=gram_items,
        checksum=_checksum(names, benchmarks, ngram),
    )


def _grouped(keys: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct keys, ascending, and the distinct items of each as offsets and values."""
    order = np.lexsort((items, keys))
    keys, items = keys[order], items[order].astype(np.uint32)
    new_key = np.ones(len(keys), bool)
    new_key[1:] = keys[1:] != keys[:-1]
    new_pair = new_key.copy()
    new_pair[1:] |= items[1:] != items[:-1]
    pairs_before = np.cumsum(new_pair) - 1
    gram_offsets = np.append(pairs_before[new_key], np.count_nonzero(new_pair))
    return keys[new_key], gram_offsets.astype(np.uint32), items[new_pair]


def _checksum(names: list[str], benchmarks: Mapping[str, Sequence[Item]], ngram: int) -> str:
    digest = xxhash.xxh3_128()
    parts = [NORMALISATION, str(ngram)]
    for name in names:
        parts += [name, str(len(benchmarks[name]))]
        parts += [part for item in sorted(benchmarks[name]) for part in item]
    for part in parts:
        encoded = part.encode("utf-8")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return str(digest.hexdigest())


def _load_array(path: str, checksum: str, mmap: bool) -> np.ndarray:
    try:
        found = files.checksum(path)
        if found != checksum:
            raise InputError(
                f"{path}: damaged: its checksum is {found}, expected {checksum}; "
                "remove the folder and build the index again"
            )
        if mmap and not files.is_url(path):
            return read_only(np.load(path, mmap_mode="r"))
        return read_only(np.load(io.BytesIO(files.read_bytes(path))))
    except FileNotFoundError as error:
        raise InputError(f"{path}: missing from the benchmark index; build it again") from error
