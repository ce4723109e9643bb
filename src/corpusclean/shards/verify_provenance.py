"""Verification of provenance: every token of a shard comes from one piece, in order."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corpusclean.errors import ShardError
from corpusclean.shards.provenance import ProvenanceRows

__all__ = ["NONE", "UNKNOWN", "Cover", "LastPiece", "Tallies"]


@dataclass
class Tallies:
    """Documents and tokens of each source and split, as provenance counts them."""

    documents: Counter[tuple[str, str]] = field(default_factory=Counter)
    tokens: Counter[tuple[str, str]] = field(default_factory=Counter)
    complete: bool = True


@dataclass(frozen=True)
class LastPiece:
    """The last piece of a shard: the next shard may go on with the same document."""

    uid: tuple[int, int]
    copy: int
    stop: int


UNKNOWN = LastPiece((0, 0), -2, -1)
"""The last piece of a shard whose provenance cannot be read."""

NONE = LastPiece((0, 0), -1, -1)


class Cover:
    """Follows provenance row by row: it must cover the shard's tokens once, in order.

    `shard` is the manifest's entry, `number` its place there; `lengths` int64[S] the tokens of the
    shard's sequences, None if they are unknown; `before` the last piece of the shard before this
    one, whose document may go on here.
    """

    def __init__(
        self,
        shard: Mapping[str, Any],
        number: int,
        lengths: np.ndarray | None,
        before: LastPiece | None,
        tallies: Tallies,
    ) -> None:
        self._shard = shard
        self._number = number
        self._path = shard["provenance"]["path"]
        self._lengths = lengths
        self._starts = None if lengths is None else np.cumsum(lengths) - lengths
        self._tallies = tallies
        self.last = before
        self.rows = 0
        self.tokens = 0
        self.continues = False
        self._ends: list[np.ndarray] = []
        self._continued: list[np.ndarray] = []

    def add(self, rows: ProvenanceRows) -> None:
        """Check the next rows; raises ShardError at the first that is wrong."""
        if len(rows) == 0:
            return
        number = self._number
        self._each(rows.shard == number, f"shard of row {{}} is not {number}")
        self._each(rows.tokens > 0, "row {} has no tokens")
        self._each((rows.copy >= 0) & (rows.document_start >= 0), "row {} has a negative number")
        ends = self.tokens + np.cumsum(rows.tokens)
        self._covers(rows, ends - rows.tokens)
        self._follows(rows)
        self._count(rows)
        self._ends.append(ends - 1)
        self.rows += len(rows)
        self.tokens = int(ends[-1])

    def _each(self, right: np.ndarray, message: str) -> None:
        wrong = np.flatnonzero(~right)
        if len(wrong):
            raise ShardError(f"{self._path}: " + message.format(self.rows + int(wrong[0])))

    def _covers(self, rows: ProvenanceRows, offset: np.ndarray) -> None:
        """Check that each row starts at the token where the one before it stopped."""
        if self._starts is None or self._lengths is None:
            return
        known = (rows.sequence >= 0) & (rows.sequence < len(self._starts))
        self._each(known, "row {} names a sequence that is not there")
        self._each(
            (rows.start >= 0) & (self._starts[rows.sequence] + rows.start == offset),
            "row {} does not start where the row before it stops",
        )
        room = self._lengths[rows.sequence]
        self._each(rows.start + rows.tokens <= room, "row {} reaches past its sequence")

    def _follows(self, rows: ProvenanceRows) -> None:
        """Check that a row within a document follows the one before it in that document."""
        last = self.last or NONE
        uid = np.concatenate([np.array([last.uid], np.uint64), rows.uid])
        copy = np.concatenate([[last.copy], rows.copy])
        stop = np.concatenate([[last.stop], rows.document_start + rows.tokens])
        same = (uid[1:] == uid[:-1]).all(axis=1) & (copy[1:] == copy[:-1])
        inside = rows.document_start > 0
        follows = same & (rows.document_start == stop[:-1])
        follows[0] |= last is UNKNOWN
        self._each(follows | ~inside, "row {} starts within a document that it does not continue")
        if self.rows == 0:
            self.continues = bool(inside[0])
        self._continued.append(inside)
        high, low = rows.uid[-1].tolist()
        self.last = LastPiece((high, low), int(rows.copy[-1]), int(stop[-1]))

    def _count(self, rows: ProvenanceRows) -> None:
        tallies, split = self._tallies, self._shard["split"]
        first = (rows.copy == 0) & (rows.document_start == 0)
        size = len(rows.sources)
        documents = np.bincount(rows.source[first], minlength=size)
        tokens = np.bincount(rows.source, weights=rows.tokens, minlength=size)
        for i, source in enumerate(rows.sources):
            tallies.documents[source, split] += int(documents[i])
            tallies.tokens[source, split] += int(tokens[i])

    def document_ends(self) -> np.ndarray:
        """Return the offsets of the last tokens of pieces that no next row continues."""
        if not self._ends:
            return np.empty(0, np.int64)
        continued = np.append(np.concatenate(self._continued)[1:], False)
        return np.concatenate(self._ends)[~continued]
