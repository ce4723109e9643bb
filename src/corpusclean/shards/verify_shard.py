"""Verification of one shard: index, provenance, and every token id.

What an index says is compared with the manifest, provenance with the index, and the .bin, read in
blocks of 16 MB, with all of them. Memory grows with the documents of a shard, not its tokens.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corpusclean import files
from corpusclean.errors import ShardError
from corpusclean.shards.megatron import ShardIndex, index_problem, parse_index
from corpusclean.shards.problems import Problems
from corpusclean.shards.provenance import ProvenanceRows, read_provenance

__all__ = ["LastPiece", "ShardCheck", "Tallies", "Tokenizer"]

_BLOCK = 1 << 24


@dataclass(frozen=True)
class Tokenizer:
    """What the manifest says about ids: their type, their number, and how documents end.

    `eod` is None if documents do not end with it.
    """

    dtype: np.dtype
    vocabulary: int
    eod: int | None


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


_UNKNOWN = LastPiece((0, 0), -2, -1)
_NONE = LastPiece((0, 0), -1, -1)


class ShardCheck:
    """Checks one shard; `last` is then its last piece, `opens` whether it lacks an end."""

    def __init__(
        self,
        problems: Problems,
        number: int,
        shard: Mapping[str, Any],
        tokenizer: Tokenizer,
        tallies: Tallies,
    ) -> None:
        self.problems = problems
        self.number = number
        self.shard = shard
        self.tokenizer = tokenizer
        self.tallies = tallies
        self.bin = shard["path"] + ".bin"
        self.idx = shard["path"] + ".idx"
        self.last: LastPiece | None = None
        self.opens = False

    def check(self, before: LastPiece | None) -> bool:
        """Check everything; tell whether the shard goes on with the document of `before`."""
        index = self._index()
        ends, continues = self._provenance(index, before)
        self._ids(index, ends)
        return continues

    def _index(self) -> ShardIndex | None:
        """Return the index if it is sound."""
        content = self.problems.read(self.idx, self.shard["idx_bytes"], None)
        if content is None:
            return None
        found = hashlib.sha256(content).hexdigest()
        self.problems.unlike(self.idx, "checksum (sha256)", self.shard["idx_sha256"], found)
        try:
            index = parse_index(content, self.idx)
        except ShardError as error:
            self.problems.add(self.idx, str(error).removeprefix(self.idx + ": "), "an index", "-")
            return None
        problem = index_problem(index)
        if problem:
            self.problems.add(self.idx, *problem)
            return None
        tokens = int(index.lengths.sum(dtype=np.int64))
        wrong = [
            self.problems.unlike(self.idx, what, expected, value)
            for what, expected, value in (
                ("type of ids", self.tokenizer.dtype.name, index.dtype.name),
                ("tokens", self.shard["tokens"], tokens),
                ("documents", self.shard["documents"], len(index.document_indices) - 1),
                ("bytes of its .bin", self.shard["bytes"], tokens * index.dtype.itemsize),
            )
        ]
        return None if any(wrong) else index

    def _provenance(
        self, index: ShardIndex | None, before: LastPiece | None
    ) -> tuple[np.ndarray | None, bool]:
        """Return the last tokens of documents, int64 (None if unknown), and `check`'s answer."""
        entry = self.shard["provenance"]
        path = entry["path"]
        content = self.problems.read(path, entry["bytes"], entry["sha256"])
        if content is None:
            self.tallies.complete, self.last = False, _UNKNOWN
            return None, True
        try:
            cover = _Cover(self, index, before)
            for rows in read_provenance(content, path):
                cover.add(rows)
        except ShardError as error:
            self.tallies.complete, self.last = False, _UNKNOWN
            self.problems.add(path, str(error).removeprefix(path + ": "), "provenance", "-")
            return None, True
        self.problems.unlike(path, "rows", entry["rows"], cover.rows)
        self.problems.unlike(path, "tokens covered", self.shard["tokens"], cover.tokens)
        self.last = cover.last
        return cover.document_ends(), cover.continues

    def _ids(self, index: ShardIndex | None, ends: np.ndarray | None) -> None:
        """Read the .bin: size, checksum, ids, last tokens."""
        dtype = index.dtype if index else self.tokenizer.dtype
        digest, size, sound = hashlib.sha256(), 0, True
        try:
            with files.open_read(self.problems.full(self.bin)) as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
                    whole = len(block) - len(block) % dtype.itemsize
                    ids = np.frombuffer(block, dtype, whole // dtype.itemsize)
                    sound = sound and self._block(ids, size // dtype.itemsize, ends)
                    size += len(block)
        except OSError as error:
            self.problems.unreadable(self.bin, error)
            return
        if not self.problems.unlike(self.bin, "size in bytes", self.shard["bytes"], size):
            found = digest.hexdigest()
            self.problems.unlike(self.bin, "checksum (sha256)", self.shard["sha256"], found)

    def _block(self, ids: np.ndarray, first: int, ends: np.ndarray | None) -> bool:
        """Check the ids of one block, the first of them token `first`; False ends the checking."""
        vocabulary, eod = self.tokenizer.vocabulary, self.tokenizer.eod
        negative = ids.dtype.kind == "i" and ids.min(initial=0) < 0
        if negative or int(ids.max(initial=0)) >= vocabulary:
            at = int(np.flatnonzero((ids >= vocabulary) | (ids < 0))[0])
            expected = f"0 to {vocabulary - 1}"
            self.problems.add(self.bin, f"id of token {first + at}", expected, int(ids[at]))
            return False
        if eod is None or ends is None or len(ends) == 0:
            return True
        low, high = np.searchsorted(ends, [first, first + len(ids)])
        wrong = np.flatnonzero(ids[ends[low:high] - first] != eod)
        is_last = len(wrong) and low + wrong[-1] == len(ends) - 1
        if is_last and self.last is not None and ends[-1] == self.shard["tokens"] - 1:
            self.opens, wrong = True, wrong[:-1]
        if len(wrong):
            token = int(ends[low + wrong[0]])
            what = f"last token of a document (token {token})"
            self.problems.add(
                self.bin, what, f"{eod}, the end of document", int(ids[token - first])
            )
            return False
        return True


class _Cover:
    """Follows provenance row by row: it must cover the shard's tokens once, in order."""

    def __init__(
        self, check: ShardCheck, index: ShardIndex | None, before: LastPiece | None
    ) -> None:
        self._check = check
        self._path = check.shard["provenance"]["path"]
        self._index = index
        self._starts = None if index is None else index.pointers // index.dtype.itemsize
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
        number = self._check.number
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
        if self._starts is None or self._index is None:
            return
        known = (rows.sequence >= 0) & (rows.sequence < len(self._starts))
        self._each(known, "row {} names a sequence that is not there")
        self._each(
            (rows.start >= 0) & (self._starts[rows.sequence] + rows.start == offset),
            "row {} does not start where the row before it stops",
        )
        room = self._index.lengths[rows.sequence]
        self._each(rows.start + rows.tokens <= room, "row {} reaches past its sequence")

    def _follows(self, rows: ProvenanceRows) -> None:
        """Check that a row within a document follows the one before it in that document."""
        last = self.last or _NONE
        uid = np.concatenate([np.array([last.uid], np.uint64), rows.uid])
        copy = np.concatenate([[last.copy], rows.copy])
        stop = np.concatenate([[last.stop], rows.document_start + rows.tokens])
        same = (uid[1:] == uid[:-1]).all(axis=1) & (copy[1:] == copy[:-1])
        inside = rows.document_start > 0
        follows = same & (rows.document_start == stop[:-1])
        follows[0] |= last is _UNKNOWN
        self._each(follows | ~inside, "row {} starts within a document that it does not continue")
        if self.rows == 0:
            self.continues = bool(inside[0])
        self._continued.append(inside)
        high, low = rows.uid[-1].tolist()
        self.last = LastPiece((high, low), int(rows.copy[-1]), int(stop[-1]))

    def _count(self, rows: ProvenanceRows) -> None:
        tallies, split = self._check.tallies, self._check.shard["split"]
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
