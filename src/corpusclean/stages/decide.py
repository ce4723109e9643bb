"""Select, first half: which rules fire, and the rows by which duplicates are found.

Rows that go to other tasks are NumPy structured arrays; a part's rows are numbered from 0.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpusclean import files
from corpusclean.dedup.exact import key_halves
from corpusclean.engine.blocks import send_rows
from corpusclean.engine.references import Ref, Task
from corpusclean.engine.steps import Output, Workplace
from corpusclean.rules.applying import RuleEvaluator
from corpusclean.rules.loading import RuleSet
from corpusclean.stages.measured import read_columns

__all__ = [
    "HASH_ROW",
    "DecideSettings",
    "decide_part",
    "partition_of",
    "partition_targets",
    "pick",
    "read_table",
]

HASH_ROW = np.dtype(
    [
        ("hash", "<u8", (2,)),
        ("uid", "<u8", (2,)),
        ("source", "<i4"),
        ("row", "<i4"),
        ("characters", "<i8"),
    ]
)
"""A document that may be a duplicate of another: what it is grouped by, and its keep order."""


@dataclass(frozen=True, slots=True)
class DecideSettings:
    """What deciding on a part needs to know."""

    rule_sets: dict[str, tuple[RuleSet, ...]]
    """For each source, its rule sets in the order of decisions."""
    source_order: tuple[str, ...]
    """The sources as the recipe lists them. This and the rules of its source reach the
    fingerprint of a part through its task, so that another source's rules do not concern it."""
    exact: bool
    """Group by the hash of the normalised text; else by uid, for records read twice."""
    partitions: int


def partition_targets(partitions: int, label: str) -> list[tuple[str, str]]:
    """Return the targets of a shuffle by ranges of a 64-bit key, for rows about one part."""
    return [(f"{i:05}", label) for i in range(partitions)]


def partition_of(keys: np.ndarray, partitions: int) -> np.ndarray:
    """Return for uint64 keys the number of the equal range of the key space that each is in."""
    # The upper 32 bits suffice to place a key, and their product cannot overflow.
    return ((keys >> np.uint64(32)) * np.uint64(partitions) >> np.uint64(32)).astype(np.int64)


def pick(task: Task, family: str) -> Ref:
    """Return the reference to a family of the measured part that a task is about."""
    for item in task.inputs:
        if str(item[0]).endswith(f"/{family}.parquet"):
            return Ref(*item)
    raise KeyError(family)


def read_table(place: Workplace, ref: Ref, columns: list[str] | None = None) -> pa.Table:
    """Return columns of the Parquet file that a reference names."""
    folder, _, name = place.path(ref.path).rpartition("/")
    return read_columns(folder, name.removesuffix(".parquet"), columns)


def decide_part(task: Task, settings: DecideSettings, place: Workplace) -> Output:
    """Apply the rules of the part's source; send the documents left on to find duplicates."""
    text = pick(task, "text")
    folder = place.path(text.path).rpartition("/")[0]
    identity = read_columns(folder, "text", ["uid", "source"])
    signals = _signals(task, folder)
    rows = identity.num_rows
    output = Output()
    source = identity.column("source")[0].as_py() if rows else ""
    evaluator = RuleEvaluator(settings.rule_sets.get(source, ()))
    fired = evaluator.evaluate(signals)
    undefined = fired.undefined.sum(axis=0)
    if rows:
        counted = zip(fired.reasons, map(int, undefined), strict=True)
        output.counts = {"sources": {source: {"undefined": {name: n for name, n in counted if n}}}}
    path = f"{place.folder}/{task.key}.parquet"
    with files.publishing(place.path(path)) as file:
        pq.write_table(
            _decided(identity, signals, fired.fired, fired.reasons), file, write_page_checksum=True
        )
    decided = output.published(path, file)
    for step in ("bands", "grams", "verdicts"):
        output.send(step, task.key, decided)
        for ref in task.references("measure"):
            output.send(step, task.key, ref)
    left = np.flatnonzero(~fired.fired.any(axis=1))
    block = np.zeros(len(left), HASH_ROW)
    uid = key_halves(identity.column("uid"))
    block["uid"] = uid[left]
    block["hash"] = (_exact_hashes(folder) if settings.exact else uid)[left]
    block["source"] = settings.source_order.index(source) if rows else 0
    block["characters"] = signals.column("characters").to_numpy()[left]
    block["row"] = left
    targets = partition_targets(settings.partitions, task.key)
    which = partition_of(block["hash"][:, 0], settings.partitions)
    send_rows(output, place, f"{task.key}.rows", "exact", block, targets, which)
    return output


def _signals(task: Task, folder: str) -> pa.Table:
    """Return every signal of a part, from all families that hold some."""
    paths = [ref.path for ref in task.references("measure")]
    present = {path.rpartition("/")[2].removesuffix(".parquet") for path in paths}
    table = read_columns(folder, "signals")
    for family in ("language", "blocklists"):
        if family in present:
            other = read_columns(folder, family)
            for name in other.column_names:
                table = table.append_column(name, other.column(name))
    return table


def _exact_hashes(folder: str) -> np.ndarray:
    return key_halves(read_columns(folder, "signature", ["exact_hash"]).column("exact_hash"))


def _decided(
    identity: pa.Table, signals: pa.Table, fired: np.ndarray, reasons: tuple[str, ...]
) -> pa.Table:
    """Return what later steps need of every document: identity, sizes and the fired rules."""
    row, rule = np.nonzero(fired)
    offsets = np.zeros(len(fired) + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=len(fired)), out=offsets[1:])
    names = pa.array(reasons, pa.string()).take(pa.array(rule, pa.int64()))
    return pa.table(
        {
            "uid": identity.column("uid"),
            "source": identity.column("source"),
            "characters": signals.column("characters"),
            "bytes": signals.column("bytes"),
            "reasons": pa.ListArray.from_arrays(pa.array(offsets), names),
        }
    )
