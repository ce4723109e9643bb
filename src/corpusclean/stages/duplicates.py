"""Select, second part: records read twice, exact duplicates and near duplicates.

Candidates meet by ranges of a hash; a document that goes is told to its own part as a row of
`LOST_ROW`. Near duplicates meet in the buckets of their signatures' bands, and the greedy kept
set is chosen over all documents that share a bucket with another.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from corpusclean.dedup.bands import band_keys
from corpusclean.dedup.exact import first_in_group, key_halves
from corpusclean.dedup.near import keep_greedily
from corpusclean.dedup.order import keep_order
from corpusclean.dedup.signatures import signature_matrix
from corpusclean.engine.blocks import read_rows, send_rows
from corpusclean.engine.references import Ref, Task
from corpusclean.engine.steps import Output, Workplace
from corpusclean.stages.decide import (
    HASH_ROW,
    partition_of,
    partition_targets,
    pick,
    read_table,
)

__all__ = [
    "EXACT",
    "KINDS",
    "LOST_ROW",
    "NEAR",
    "RECORD",
    "REPRESENTATIVE",
    "ExactSettings",
    "NearSettings",
    "find_buckets",
    "find_exact",
    "keep_near",
    "lost_rows",
    "send_bands",
]

LOST_ROW = np.dtype([("row", "<i8"), ("kind", "<i8"), ("of", "<u8", (2,)), ("size", "<i8")])
"""What became of a document: its row in its part, how, and for which document, by uid.

A row of kind REPRESENTATIVE tells a kept document how many were dropped for it, in `size`.
"""

RECORD, EXACT, NEAR, REPRESENTATIVE = range(4)
KINDS = ("duplicate.record", "duplicate.exact", "duplicate.near")

_BAND_ROW = np.dtype([("key", "<u8"), ("row", "<i8")])
_MEMBER_ROW = np.dtype([("bucket", "<u8"), ("row", "<i8")])


@dataclass(frozen=True, slots=True)
class ExactSettings:
    """How exact duplicates are told and which one stays."""

    exact: bool
    keep: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearSettings:
    """How near duplicates are told and which one stays."""

    bands: int
    rows: int
    similarity: float
    keep: tuple[str, ...]
    source_order: tuple[str, ...]
    partitions: int


def _lost(place: Workplace, refs: list[Ref]) -> np.ndarray:
    parts = list(read_rows(place, refs, LOST_ROW))
    return np.concatenate(parts) if parts else np.zeros(0, LOST_ROW)


def lost_rows(task: Task, place: Workplace) -> np.ndarray:
    """Return all rows of `LOST_ROW` that earlier steps sent to a task about a part."""
    refs = task.references("select/exact") + task.references("select/near")
    return _lost(place, refs)


def _tell(
    output: Output,
    place: Workplace,
    key: str,
    parts: list[str],
    part: np.ndarray,
    lost: np.ndarray,
    steps: Iterable[str],
) -> None:
    """Send rows of `LOST_ROW` to the parts that they are about; the file is written once."""
    first, *others = steps
    before = len(output.messages)
    targets = [(name, key) for name in parts]
    send_rows(output, place, f"{key}.lost", first, lost, targets, part)
    sent = output.messages[before:]
    for step in others:
        output.messages += [(step, target, item) for _, target, item in sent]


def find_exact(task: Task, settings: ExactSettings, place: Workplace) -> Output:
    """Find records read twice and exact duplicates among the documents of a hash range."""
    refs = [Ref(*item) for item in task.inputs]
    blocks = list(read_rows(place, refs, HASH_ROW))
    rows = np.concatenate(blocks)
    part = np.repeat(np.arange(len(refs)), [len(block) for block in blocks])
    # Ties of one uid fall to the first part and row: they are one document, so any would do.
    place_in_order = keep_order(settings.keep, rows["source"], rows["characters"], rows["uid"])
    record_of = first_in_group(rows["uid"], place_in_order)
    everyone = np.arange(len(rows))
    is_record = record_of != everyone
    exact_of = everyone.copy()
    if settings.exact:
        alone = np.flatnonzero(~is_record)
        first = first_in_group(rows["hash"][alone], place_in_order[alone])
        exact_of[alone] = alone[first]
    goes = is_record | (exact_of != everyone)
    of = np.where(is_record, record_of, exact_of)
    lost = np.zeros(int(goes.sum()), LOST_ROW)
    lost["row"] = rows["row"][goes]
    lost["kind"] = np.where(is_record[goes], RECORD, EXACT)
    lost["of"] = rows["uid"][of[goes]]
    told, parts = _with_representatives(lost, part[goes], of[goes], rows["row"], part)
    output = Output()
    labels = [ref.label for ref in refs]
    _tell(output, place, task.key, labels, parts, told, ("verdicts", "bands", "grams"))
    return output


def _with_representatives(
    lost: np.ndarray, part: np.ndarray, of: np.ndarray, rows: np.ndarray, parts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Add a row for every document that others were dropped for, with their number."""
    kept, size = np.unique(of, return_counts=True)
    told = np.zeros(len(kept), LOST_ROW)
    told["row"], told["kind"], told["size"] = rows[kept], REPRESENTATIVE, size
    return np.concatenate([lost, told]), np.concatenate([part, parts[kept]])


def _left(task: Task, place: Workplace) -> np.ndarray:
    """Return the rows of a part that no step so far has dropped, in order."""
    reasons = read_table(place, task.references("select/decide")[0], ["reasons"]).column("reasons")
    left = np.asarray(reasons.combine_chunks().value_lengths()) == 0
    lost = lost_rows(task, place)
    left[lost["row"][lost["kind"] != REPRESENTATIVE]] = False
    return np.flatnonzero(left)


def send_bands(task: Task, settings: NearSettings, place: Workplace) -> Output:
    """Send the band keys of the documents left in a part to the tasks of their ranges."""
    left = _left(task, place)
    signed = read_table(place, pick(task, "signature"), ["signature"])
    signatures, valid = signature_matrix(signed.column("signature"))
    left = left[valid[left]]
    keys = band_keys(np.ascontiguousarray(signatures[left]), settings.bands, settings.rows)
    block = np.zeros(keys.size, _BAND_ROW)
    block["key"] = keys.ravel()
    block["row"] = np.repeat(left, settings.bands)
    output = Output()
    for ref in (task.references("select/decide")[0], pick(task, "signature")):
        output.send("near", "all", ref._replace(label=task.key))
    which = partition_of(block["key"], settings.partitions)
    targets = partition_targets(settings.partitions, task.key)
    send_rows(output, place, f"{task.key}.rows", "buckets", block, targets, which)
    return output


def find_buckets(task: Task, settings: NearSettings, place: Workplace) -> Output:
    """Send on the buckets of a key range that hold two documents or more."""
    refs = [Ref(*item) for item in task.inputs]
    blocks = list(read_rows(place, refs, _BAND_ROW))
    rows = np.concatenate(blocks)
    part = np.repeat(np.arange(len(refs)), [len(block) for block in blocks])
    _, bucket, size = np.unique(rows["key"], return_inverse=True, return_counts=True)
    shared = size[bucket] > 1
    members = np.zeros(int(shared.sum()), _MEMBER_ROW)
    members["bucket"] = rows["key"][shared]
    members["row"] = rows["row"][shared]
    output = Output()
    targets = [("all", ref.label) for ref in refs]
    send_rows(output, place, f"{task.key}.rows", "near", members, targets, part[shared])
    return output


def keep_near(task: Task, settings: NearSettings, place: Workplace) -> Output:
    """Choose the greedy kept set among all documents that share a bucket with another."""
    refs = sorted(task.references("select/buckets"), key=lambda ref: (ref.label, ref.path))
    if not refs:
        return Output()
    labels = sorted({ref.label for ref in refs})
    number = {label: i for i, label in enumerate(labels)}
    blocks = list(read_rows(place, refs, _MEMBER_ROW))
    members = np.concatenate(blocks)
    part = np.repeat([number[ref.label] for ref in refs], [len(block) for block in blocks])
    places = np.stack([part, members["row"]], axis=1)
    documents, member = np.unique(places, axis=0, return_inverse=True)
    source, characters, uid, signatures = _candidates(documents, labels, task, settings, place)
    order = keep_order(settings.keep, source, characters, uid)
    by_order = np.empty(len(order), np.int64)
    by_order[order] = np.arange(len(order))
    _, bucket = np.unique(members["bucket"], return_inverse=True)
    near = keep_greedily(bucket, order[member.ravel()], signatures[by_order], settings.similarity)
    duplicate_of = near.duplicate_of[order]
    goes = duplicate_of >= 0
    of = by_order[duplicate_of[goes]]
    lost = np.zeros(int(goes.sum()), LOST_ROW)
    lost["row"], lost["kind"], lost["of"] = documents[goes, 1], NEAR, uid[of]
    told, parts = _with_representatives(
        lost, documents[goes, 0], of, documents[:, 1], documents[:, 0]
    )
    output = Output()
    _tell(output, place, task.key, labels, parts, told, ("verdicts", "grams"))
    return output


def _candidates(
    documents: np.ndarray,
    labels: list[str],
    task: Task,
    settings: NearSettings,
    place: Workplace,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Read source, length, uid and signature of documents given as (part, row), in their order."""
    count = len(documents)
    source = np.zeros(count, np.int64)
    characters = np.zeros(count, np.int64)
    uid = np.zeros((count, 2), np.uint64)
    signatures = np.zeros((count, settings.bands * settings.rows), np.uint32)
    decided_at = {ref.label: ref for ref in task.references("select/decide")}
    signed_at = {ref.label: ref for ref in task.references("measure/parts")}
    for i, label in enumerate(labels):
        begin, end = np.searchsorted(documents[:, 0], [i, i + 1])
        rows = documents[begin:end, 1]
        decided = read_table(place, decided_at[label], ["uid", "source", "characters"])
        source[begin:end] = settings.source_order.index(decided.column("source")[0].as_py())
        characters[begin:end] = decided.column("characters").to_numpy()[rows]
        uid[begin:end] = key_halves(decided.column("uid"))[rows]
        signed = read_table(place, signed_at[label], ["signature"])
        matrix, _ = signature_matrix(signed.column("signature"))
        signatures[begin:end] = matrix[rows]
    return source, characters, uid, signatures
