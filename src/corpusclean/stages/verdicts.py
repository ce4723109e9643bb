"""Select, last part: contamination, and the verdict on every document."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpusclean import files
from corpusclean.engine.references import OUTPUT, Ref, Task
from corpusclean.engine.steps import Output, Workplace
from corpusclean.stages.decide import pick, read_table
from corpusclean.stages.duplicates import KINDS, REPRESENTATIVE, lost_rows

__all__ = ["COMMON_DOCUMENTS", "VerdictSettings", "count_grams", "find_common", "give_verdicts"]

COMMON_DOCUMENTS = 10
"""An n-gram found in more training documents than this is a common phrase, not contamination.

Brown et al. 2020, arXiv:2005.14165, appendix C.
"""

_GRAM_ROW = np.dtype([("gram", "<u8"), ("documents", "<i8")])

VERDICTS = pa.schema(
    [
        ("uid", pa.binary(16)),
        ("kept", pa.bool_()),
        ("reasons", pa.list_(pa.string())),
        ("duplicate_of", pa.binary(16)),
        ("cluster_size", pa.int64()),
        (
            "cuts",
            pa.list_(
                pa.struct([("start", pa.int64()), ("stop", pa.int64()), ("reason", pa.string())])
            ),
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class VerdictSettings:
    """How contamination is decided."""

    action: str | None
    """cut, drop or report; None without benchmarks."""
    index_folder: str | None


def _still_kept(task: Task, place: Workplace, rows: int, fired: np.ndarray) -> np.ndarray:
    """Return which documents neither a rule nor a duplicate has dropped."""
    kept = ~fired
    lost = lost_rows(task, place)
    kept[lost["row"][lost["kind"] != REPRESENTATIVE]] = False
    return kept


def _decided(task: Task, place: Workplace) -> pa.Table:
    return read_table(place, task.references("select/decide")[0])


def _lengths(lists: pa.ChunkedArray) -> np.ndarray:
    return lists.combine_chunks().value_lengths().to_numpy(zero_copy_only=False)


def _hits(task: Task, place: Workplace) -> pa.Array:
    return read_table(place, pick(task, "hits")).column("hits").combine_chunks()


def count_grams(task: Task, settings: VerdictSettings, place: Workplace) -> Output:
    """Count in how many documents that are still kept each benchmark n-gram occurs."""
    from corpusclean.contamination.scan import gram_document_counts

    decided = _decided(task, place)
    fired = _lengths(decided.column("reasons")) > 0
    kept = _still_kept(task, place, decided.num_rows, fired)
    grams, counts = gram_document_counts(_hits(task, place), kept)
    rows = np.zeros(len(grams), _GRAM_ROW)
    rows["gram"], rows["documents"] = grams, counts
    output = Output()
    path = f"{place.folder}/{task.key}.rows"
    file = files.publish_bytes(place.path(path), rows.tobytes())
    reference = output.published(path, file)._replace(label=task.key)
    output.send("common", "all", reference)
    return output


def find_common(task: Task, settings: VerdictSettings, place: Workplace) -> Output:
    """Find the n-grams of too many documents, and tell every part."""
    from corpusclean.contamination.scan import common_grams, merge_gram_counts, seen_items

    refs = [Ref(*item) for item in task.inputs]
    counted = []
    for ref in refs:
        rows = np.frombuffer(files.read_bytes(place.path(ref.path)), _GRAM_ROW)
        counted.append((rows["gram"].copy(), rows["documents"].copy()))
    grams, documents = merge_gram_counts(counted)
    common = common_grams((grams, documents), COMMON_DOCUMENTS)
    output = Output()
    path = f"{place.folder}/{task.key}.grams"
    file = files.publish_bytes(place.path(path), common.astype("<u8").tobytes())
    reference = output.published(path, file)
    for ref in refs:
        output.send("verdicts", ref.label, reference)
    index = _index(settings)
    seen = np.bincount(index.item_benchmark[seen_items(grams, index, common)])
    for number, name in enumerate(index.benchmarks):
        output.counts.setdefault("benchmarks", {})[name] = {
            "items": index.items[name],
            "items_uncheckable": len(index.uncheckable[name]),
            "items_found": int(seen[number]) if number < len(seen) else 0,
        }
    return output


def _index(settings: VerdictSettings) -> Any:
    from corpusclean.contamination.index import BenchmarkIndex

    assert settings.index_folder is not None
    return BenchmarkIndex.load(settings.index_folder, mmap=True)


class _Contamination:
    """What the benchmarks say of the documents of one part."""

    def __init__(
        self, task: Task, settings: VerdictSettings, place: Workplace, kept: np.ndarray
    ) -> None:
        from corpusclean.contamination.scan import contaminated_benchmarks, hit_arrays

        self.action = settings.action
        self.index = _index(settings)
        common = task.references("select/common")
        data = files.read_bytes(place.path(common[0].path)) if common else b""
        self.common = np.frombuffer(data, "<u8")
        hits = _hits(task, place)
        self.offsets, self.grams, self.starts, self.ends = hit_arrays(hits)
        names = contaminated_benchmarks(hits, self.index, self.common)
        found = names.value_lengths().to_numpy(zero_copy_only=False) > 0
        self.benchmarks = {
            int(row): names[int(row)].as_py() for row in np.flatnonzero(found & kept)
        }
        """For each document that is still kept and has a hit, its benchmarks."""

    def documents(self) -> dict[str, dict[str, int]]:
        """Count for each benchmark the documents, still kept, that hold a part of it."""
        counts = dict.fromkeys(self.index.benchmarks, 0)
        for names in self.benchmarks.values():
            for name in names:
                counts[name] += 1
        return {name: {"documents": count} for name, count in counts.items()}

    def judge(self, row: int, characters: int) -> tuple[list[str], list[dict[str, Any]]]:
        """Return the reasons to drop a document, or the cuts to make in it."""
        from corpusclean.contamination.gpt3 import clean

        reasons = [f"contamination.{name}" for name in self.benchmarks[row]]
        if self.action == "report":
            return [], []
        if self.action == "drop":
            return reasons, []
        mine = slice(self.offsets[row], self.offsets[row + 1])
        grams, starts, ends = self.grams[mine], self.starts[mine], self.ends[mine]
        decision = clean(grams, starts, ends, characters, self.common)
        if decision.drop:
            return reasons, []
        return [], [
            {"start": start, "stop": stop, "reason": self._reason(grams, starts, ends, start, stop)}
            for start, stop in decision.cuts
        ]

    def _reason(
        self, grams: np.ndarray, starts: np.ndarray, ends: np.ndarray, start: int, stop: int
    ) -> str:
        """Name the first benchmark whose n-grams lie in a cut."""
        inside = (starts < stop) & (ends > start) & ~np.isin(grams, self.common)
        _, items = self.index.gram_pairs(np.unique(grams[inside]))
        first = int(self.index.item_benchmark[items].min())
        return f"contamination.{self.index.benchmarks[first]}"


def give_verdicts(task: Task, settings: VerdictSettings, place: Workplace) -> Output:
    """Write the verdict on every document of a part, in the part's order."""
    decided = _decided(task, place)
    rows = decided.num_rows
    reasons: list[list[str]] = decided.column("reasons").to_pylist()
    fired = _lengths(decided.column("reasons")) > 0
    lost = lost_rows(task, place)
    duplicate_of, size = _duplicates(lost, reasons, rows)
    kept = _still_kept(task, place, rows, fired)
    cuts: list[list[dict[str, Any]]] = [[] for _ in range(rows)]
    output = Output(documents=rows, bytes=pc.sum(decided.column("bytes")).as_py() or 0)
    if settings.action is not None:
        contamination = _Contamination(task, settings, place, kept)
        characters = decided.column("characters").to_numpy()
        for row in contamination.benchmarks:
            found, cuts[row] = contamination.judge(row, int(characters[row]))
            reasons[row] += found
            kept[row] = not found
        output.counts["benchmarks"] = contamination.documents()
    size[~kept] = 0
    table = pa.table(
        {
            "uid": decided.column("uid"),
            "kept": pa.array(kept),
            "reasons": pa.array(reasons, VERDICTS.field("reasons").type),
            "duplicate_of": duplicate_of,
            "cluster_size": pa.array(size, mask=size == 0),
            "cuts": pa.array(cuts, VERDICTS.field("cuts").type),
        },
        schema=VERDICTS,
    )
    path = f"{place.folder}/{task.key}.parquet"
    with files.publishing(place.path(path)) as file:
        pq.write_table(table, file, compression="zstd", write_page_checksum=True)
    reference = output.published(path, file)._replace(stop=rows)
    output.send(OUTPUT, task.key, reference)
    if rows:
        output.counts["sources"] = {decided.column("source")[0].as_py(): _counts(kept, reasons)}
    place.progress(rows, 0)
    return output


def _duplicates(
    lost: np.ndarray, reasons: list[list[str]], rows: int
) -> tuple[pa.Array, np.ndarray]:
    """Return the `duplicate_of` column and cluster sizes; add the reasons of duplicates."""
    size = np.ones(rows, np.int64)
    of = np.zeros((rows, 2), np.uint64)
    missing = np.ones(rows, bool)
    for entry in lost:
        row, kind = int(entry["row"]), int(entry["kind"])
        if kind == REPRESENTATIVE:
            size[row] += entry["size"]
        else:
            reasons[row].append(KINDS[kind])
            of[row] = entry["of"]
            missing[row] = False
    values = pa.Array.from_buffers(
        pa.binary(16), rows, [None, pa.py_buffer(np.ascontiguousarray(of.astype(">u8")))]
    )
    return pc.if_else(pa.array(~missing), values, None), size


def _counts(kept: np.ndarray, reasons: list[list[str]]) -> dict[str, Any]:
    """Count documents kept, dropped by their first reason, and touched by every reason."""
    dropped: dict[str, int] = {}
    all_reasons: dict[str, int] = {}
    for row in np.flatnonzero(~kept):
        dropped[reasons[row][0]] = dropped.get(reasons[row][0], 0) + 1
        for reason in reasons[row]:
            all_reasons[reason] = all_reasons.get(reason, 0) + 1
    return {"kept": int(kept.sum()), "dropped": dropped, "reasons": all_reasons}
