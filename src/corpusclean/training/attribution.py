"""From runs of tokens to documents, by the provenance of each shard."""

from dataclasses import dataclass

import numpy as np

from corpusclean.training.data import Output, Shard
from corpusclean.training.gpt_dataset import pieces_between
from corpusclean.training.order import Slices

__all__ = ["Reading", "attribute", "pieces_of_document"]

_NAMED = ["uid", "source", "copy", "document_start"]


@dataclass(frozen=True)
class Reading:
    """A run of tokens of one copy of one document, in one sample.

    `start` and `stop` are token offsets in the sequence, `document_start` the offset of `start`
    in the document.
    """

    sample: int
    shard: int
    sequence: int
    start: int
    stop: int
    uid: bytes
    source: str
    copy: int
    document_start: int


def attribute(output: Output, slices: Slices) -> list[Reading]:
    """Return the documents of slices, in their order, a slice cut where a document ends."""
    by_number = {shard.number: shard for shard in output.shards}
    found: list[tuple[int, Reading]] = []
    for number in np.unique(slices.shard).tolist():
        here = np.flatnonzero(slices.shard == number)
        found += _of_shard(output, by_number[number], slices, here)
    return [reading for _, reading in sorted(found, key=lambda pair: pair[0])]


def _of_shard(
    output: Output, shard: Shard, slices: Slices, here: np.ndarray
) -> list[tuple[int, Reading]]:
    """Return (place of the slice, reading) for the slices of one shard."""
    pieces = output.pieces(shard)
    begins = np.cumsum(pieces.tokens) - pieces.tokens
    base = begins[np.searchsorted(pieces.sequence, slices.sequence[here])]
    low, high = base + slices.start[here], base + slices.stop[here]
    first = np.searchsorted(begins, low, side="right") - 1
    last = np.searchsorted(begins, high - 1, side="right") - 1
    of, row, begin, end = pieces_between(first, low - begins[first], last, high - begins[last])
    end = np.where(end < 0, pieces.tokens[row], end)
    wanted, which = np.unique(row, return_inverse=True)
    named = _named(output, shard, wanted)
    readings = []
    for i, at, r, b, e in zip(*(x.tolist() for x in (of, which, row, begin, end)), strict=True):
        uid, source, copy, document_start = named[at]
        place = int(here[i])
        start = int(pieces.start[r])
        reading = Reading(
            sample=int(slices.sample[place]),
            shard=shard.number,
            sequence=int(pieces.sequence[r]),
            start=start + b,
            stop=start + e,
            uid=uid,
            source=source,
            copy=copy,
            document_start=document_start + b,
        )
        readings.append((place, reading))
    return readings


def _named(output: Output, shard: Shard, rows: np.ndarray) -> list[tuple[bytes, str, int, int]]:
    """Return (uid, source, copy, document_start) of rows, sorted int64[n], of a provenance."""
    found: list[tuple[bytes, str, int, int]] = []
    for first, table in output.provenance(shard, _NAMED, rows):
        low, high = np.searchsorted(rows, [first, first + table.num_rows])
        taken = table.take(rows[low:high] - first)
        columns = [taken.column(name).to_pylist() for name in _NAMED]
        found += list(zip(*columns, strict=True))
    return found


def pieces_of_document(output: Output, uid: bytes) -> list[tuple[Shard, Reading]]:
    """Return the pieces of all copies of a document in the training shards; `sample` is -1."""
    import pyarrow.compute as pc

    found = []
    names = ["sequence", "start", "tokens", *_NAMED]
    for shard in output.shards:
        for _, table in output.provenance(shard, names):
            for row in table.filter(pc.equal(table.column("uid"), uid)).to_pylist():
                start, stop = row["start"], row["start"] + row.pop("tokens")
                reading = Reading(
                    sample=-1, shard=shard.number, **(row | {"stop": stop, "start": start})
                )
                found.append((shard, reading))
    return found
