"""Verification of one shard: its files, lengths, provenance, and every token id.

Each file is compared with the size and checksum in the manifest. Then the format's own reader
tells the lengths of sequences, which are compared with the manifest, provenance with the lengths,
and the ids, a block at a time, with all of them. Memory grows with the documents of a shard, not
with its tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpusclean.errors import ShardError
from corpusclean.shards.formats import Format
from corpusclean.shards.manifest import files_of
from corpusclean.shards.problems import Problems
from corpusclean.shards.provenance import read_provenance
from corpusclean.shards.reading import Damaged, ShardReader
from corpusclean.shards.verify_provenance import UNKNOWN, Cover, LastPiece, Tallies

__all__ = ["Encoding", "ShardCheck"]


@dataclass(frozen=True)
class Encoding:
    """What the manifest says about ids: format, type, their number, and how documents end.

    `eod` is None if documents do not end with it.
    """

    format: Format
    dtype: np.dtype
    vocabulary: int
    eod: int | None


class ShardCheck:
    """Checks one shard; `last` is then its last piece, `opens` whether it lacks an end."""

    def __init__(
        self,
        problems: Problems,
        number: int,
        shard: Mapping[str, Any],
        encoding: Encoding,
        tallies: Tallies,
    ) -> None:
        self.problems = problems
        self.number = number
        self.shard = shard
        self.encoding = encoding
        self.tallies = tallies
        self.files = files_of(shard)
        self.last_file = shard["path"] + self.files[0].suffix
        self.last: LastPiece | None = None
        self.opens = False

    def check(self, before: LastPiece | None) -> bool:
        """Check everything; tell whether the shard goes on with the document of `before`."""
        reader = self._reader()
        lengths = None if reader is None else self._lengths(reader)
        ends, continues = self._provenance(lengths, before)
        if reader is not None and lengths is not None:
            self._ids(reader, ends)
        return continues

    def _reader(self) -> ShardReader | None:
        """Return a reader if every file is as the manifest describes it."""
        path = self.shard["path"]
        same = [self.problems.matches(path + f.suffix, f.bytes, f.sha256) for f in self.files]
        if not all(same):
            return None
        suffixes = [file.suffix for file in self.files]
        return self.encoding.format.open(self.problems.full(path), self.encoding.dtype, suffixes)

    def _lengths(self, reader: ShardReader) -> np.ndarray | None:
        """Return the lengths of sequences, int64, if they are as the manifest says."""
        path = self.shard["path"]
        try:
            lengths, documents = reader.lengths, reader.documents
            by_file = reader.sequences_by_file()
        except (Damaged, OSError) as error:
            self._unreadable(error)
            return None
        index = path + self.files[-1].suffix
        wrong = [
            self.problems.unlike(index, "tokens", self.shard["tokens"], int(lengths.sum())),
            self.problems.unlike(index, "documents", self.shard["documents"], documents),
            *(
                self.problems.unlike(
                    path + file.suffix, "sequences", file.sequences, by_file[file.suffix]
                )
                for file in self.files
                if file.suffix in by_file
            ),
        ]
        return None if any(wrong) else lengths

    def _unreadable(self, error: Damaged | OSError) -> None:
        if isinstance(error, Damaged):
            path = self.shard["path"] + error.suffix
            self.problems.add(path, error.problem, error.expected, error.found)
        else:
            self.problems.unreadable(self.last_file, error)

    def _provenance(
        self, lengths: np.ndarray | None, before: LastPiece | None
    ) -> tuple[np.ndarray | None, bool]:
        """Return the last tokens of documents, int64 (None if unknown), and `check`'s answer."""
        entry = self.shard["provenance"]
        path = entry["path"]
        content = self.problems.read(path, entry["bytes"], entry["sha256"])
        if content is None:
            self.tallies.complete, self.last = False, UNKNOWN
            return None, True
        try:
            cover = Cover(self.shard, self.number, lengths, before, self.tallies)
            for rows in read_provenance(content, path):
                cover.add(rows)
        except ShardError as error:
            self.tallies.complete, self.last = False, UNKNOWN
            self.problems.add(path, str(error).removeprefix(path + ": "), "provenance", "-")
            return None, True
        self.problems.unlike(path, "rows", entry["rows"], cover.rows)
        self.problems.unlike(path, "tokens covered", self.shard["tokens"], cover.tokens)
        self.last = cover.last
        return cover.document_ends(), cover.continues

    def _ids(self, reader: ShardReader, ends: np.ndarray | None) -> None:
        """Check all ids, and the last tokens of documents."""
        first = 0
        try:
            for suffix, ids in reader.blocks():
                self.last_file = self.shard["path"] + suffix
                if not self._block(ids, first, ends):
                    return
                first += len(ids)
        except (Damaged, OSError) as error:
            self._unreadable(error)
            return
        self.problems.unlike(self.last_file, "tokens", self.shard["tokens"], first)

    def _block(self, ids: np.ndarray, first: int, ends: np.ndarray | None) -> bool:
        """Check the ids of one block, the first of them token `first`; False ends the checking."""
        vocabulary, eod = self.encoding.vocabulary, self.encoding.eod
        negative = ids.dtype.kind == "i" and ids.min(initial=0) < 0
        if negative or int(ids.max(initial=0)) >= vocabulary:
            at = int(np.flatnonzero((ids >= vocabulary) | (ids < 0))[0])
            expected = f"0 to {vocabulary - 1}"
            self.problems.add(self.last_file, f"id of token {first + at}", expected, int(ids[at]))
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
                self.last_file, what, f"{eod}, the end of document", int(ids[token - first])
            )
            return False
        return True
