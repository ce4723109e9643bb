"""Hits of term lists in a document.

A list is a UTF-8 file of one term a line; blank lines and lines that begin with `#` say nothing.
Terms are found without regard to case, as whole words in scripts with spaces and anywhere in
those without (`corpusclean.text.terms` says what exactly): `sex` is not found in `Essex`, and is
in `SEX-ed`. A space in a term stands for any run of white space, accents count, and a term is
found whether the text composes its accents or not. Apostrophes and hyphens are not part of words.
Korean has spaces, so its terms are whole words; particles written on to a word hide it.
"""

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusclean import files
from corpusclean.errors import InputError, RecipeError
from corpusclean.signals.registry import Signal
from corpusclean.text.terms import count_whole, fold_texts, open_ends

__all__ = ["VERSION", "TermLists", "blocklist_signal", "read_terms"]

VERSION = "1"

_SCANNED_AT_ONCE = 1 << 20
"""Bytes that the automaton reads in one call: it bounds the matches that are held as objects."""

_TABLE_BYTES = 1 << 14
"""Up to so many bytes of terms, the automaton is the faster and larger one of the two kinds."""


def blocklist_signal(name: str) -> Signal:
    """Return the reference of the signal of one term list."""
    return Signal(
        name=f"blocklist_{name}_hits",
        kind="integer",
        family="blocklists",
        meaning=(
            f"Terms of the list `{name}` in the document, without regard to case: whole words, or "
            "anywhere in scripts without spaces. Of terms that overlap the leftmost counts, the "
            "longest of those that begin together."
        ),
        null_when="the list is for other languages than the document's",
    )


def read_terms(path: str) -> tuple[str, ...]:
    """Read a list of terms, composed (NFC), each once, in the order of the file.

    Raises RecipeError for a file that is missing or holds no term, InputError for one that is not
    UTF-8.
    """
    try:
        text = files.read_bytes(path).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise RecipeError(f"there is no list of terms at {path}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the list of terms is not UTF-8: {error}") from error
    lines = (unicodedata.normalize("NFC", line).strip() for line in text.splitlines())
    terms = tuple(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
    if not terms:
        raise RecipeError(f"{path}: found no term; expected one a line")
    return terms


class TermLists:
    """Named lists of terms, searched for together.

    `languages` restricts lists to documents of some languages, by their codes; a list that is not
    in it is for all documents.
    """

    def __init__(
        self,
        lists: Mapping[str, Sequence[str]],
        languages: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self.names = tuple(lists)
        self._languages = {name: sorted(codes) for name, codes in (languages or {}).items()}
        self._patterns: list[bytes] = []
        terms: list[tuple[int, bool, bool]] = []
        for number, name in enumerate(self.names):
            for pattern in _patterns(name, lists[name]):
                self._patterns.append(pattern)
                terms.append((number, *open_ends(pattern)))
        self._terms = np.array(terms, np.int64).reshape(-1, 3)
        self._longest = max(map(len, self._patterns), default=0)
        self._automaton = _automaton(self._patterns)

    def measure(
        self, texts: pa.Array, languages: pa.Array | Sequence[str | None] | None = None
    ) -> pa.RecordBatch:
        """Return a column `blocklist_<name>_hits` (int64) for each list, in their order.

        `languages` holds each document's language; it is needed if a list is restricted. The
        column of such a list is NULL for documents of another language or of none.
        """
        if self._languages and languages is None:
            raise ValueError("lists for some languages need the language of every document")
        counts = self._count(texts)
        columns = []
        for number, name in enumerate(self.names):
            column = pa.array(counts[:, number])
            if name in self._languages:
                known = pa.array(self._languages[name], pa.string())
                asked = pc.is_in(_as_array(languages), value_set=known)
                column = pc.if_else(asked, column, pa.scalar(None, pa.int64()))
            columns.append(column)
        names = [blocklist_signal(name).name for name in self.names]
        return pa.RecordBatch.from_arrays(columns, names=names)

    def _count(self, texts: pa.Array) -> np.ndarray:
        data, offsets = fold_texts(texts)
        found = []
        for start in range(0, len(data) if self._patterns else 0, _SCANNED_AT_ONCE):
            # A match that begins before the end of the block is read to its own end.
            block = data[start : start + _SCANNED_AT_ONCE + self._longest - 1]
            matches = self._automaton.find_matches_as_indexes(block, overlapping=True)
            if matches:
                table = np.array(matches, np.int64)
                table = table[table[:, 1] < _SCANNED_AT_ONCE]
                table[:, 1:] += start
                found.append(table)
        matches = np.concatenate(found) if found else np.zeros((0, 3), np.int64)
        return count_whole((data, offsets), matches, self._terms, len(self.names))


def _patterns(name: str, terms: Sequence[str]) -> list[bytes]:
    """Return the folded forms of terms, composed and decomposed, each once."""
    patterns: dict[bytes, None] = {}
    for form in ("NFC", "NFD"):
        wanted = [unicodedata.normalize(form, term).strip() for term in terms]
        data, offsets = fold_texts(pa.array(wanted, pa.large_string()))
        for number, term in enumerate(terms):
            pattern = data[offsets[number] : offsets[number + 1]].tobytes()
            if not pattern:
                raise RecipeError(f"blocklist {name}: the term {term!r} has no visible character")
            patterns[pattern] = None
    return list(patterns)


def _automaton(patterns: Sequence[bytes]) -> Any:
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    small = sum(map(len, patterns)) <= _TABLE_BYTES
    kind = Implementation.DFA if small else Implementation.ContiguousNFA
    return BytesAhoCorasick(patterns, implementation=kind)


def _as_array(languages: pa.Array | Sequence[str | None] | None) -> pa.Array:
    is_arrow = isinstance(languages, pa.Array | pa.ChunkedArray)
    return languages if is_arrow else pa.array(languages, pa.string())
