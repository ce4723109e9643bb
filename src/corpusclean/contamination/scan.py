"""Benchmark n-grams in training documents, and what they are hits of."""

import numpy as np
import pyarrow as pa

from corpusclean.contamination.index import BenchmarkIndex
from corpusclean.text.ngram_table import find_grams
from corpusclean.text.normalise import TokenStream, tokens

__all__ = [
    "HITS",
    "common_grams",
    "contaminated_benchmarks",
    "find_hits",
    "gram_document_counts",
    "hit_arrays",
    "merge_gram_counts",
    "seen_items",
]

HITS = pa.list_(pa.struct([("gram", pa.uint64()), ("start", pa.int64()), ("end", pa.int64())]))
"""The type of the `hits` column."""

GramCounts = tuple[np.ndarray, np.ndarray]
"""Grams, uint64 ascending and unique, and in how many documents each occurs, int64."""


def find_hits(
    texts: pa.Array | pa.ChunkedArray, index: BenchmarkIndex, stream: TokenStream | None = None
) -> pa.Array:
    """Return every occurrence of a benchmark n-gram in every text, a column of type `HITS`.

    A hit is the key of the n-gram and the half-open range of characters of the text from the
    start of its first word to the end of its last; hits stand in order of the text and overlap
    where a longer passage was copied. `stream` is `tokens(texts)`, if it is at hand.
    """
    found = find_grams(tokens(texts) if stream is None else stream, index.ngram, index.table)
    hits = pa.StructArray.from_arrays(
        [pa.array(found.grams), pa.array(found.starts), pa.array(found.ends)],
        fields=list(HITS.value_type),
    )
    return pa.ListArray.from_arrays(pa.array(found.offsets, pa.int32()), hits, type=HITS)


def hit_arrays(
    hits: pa.Array | pa.ChunkedArray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a `hits` column as numpy arrays: offsets (int64[n + 1]), grams, starts, ends."""
    if isinstance(hits, pa.ChunkedArray):
        hits = hits.combine_chunks()
        if isinstance(hits, pa.ChunkedArray):
            hits = pa.concat_arrays(hits.chunks) if hits.chunks else pa.array([], HITS)
    flat = hits.flatten()
    offsets = np.zeros(len(hits) + 1, np.int64)
    if len(hits):
        np.cumsum(hits.value_lengths().fill_null(0).to_numpy(), out=offsets[1:])
    grams, starts, ends = (
        flat.field(name).to_numpy(zero_copy_only=False) for name in ("gram", "start", "end")
    )
    return offsets, grams, starts, ends


def gram_document_counts(hits: pa.Array | pa.ChunkedArray, documents: np.ndarray) -> GramCounts:
    """Count in how many documents each gram occurs, among those where `documents` bool[n] is set.

    Counts of several parts are summed by `merge_gram_counts`.
    """
    offsets, grams, _, _ = hit_arrays(hits)
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    counted = documents[document]
    grams, document = grams[counted], document[counted]
    order = np.lexsort((document, grams))
    grams, document = grams[order], document[order]
    first = np.ones(len(grams), bool)
    first[1:] = (grams[1:] != grams[:-1]) | (document[1:] != document[:-1])
    distinct, counts = np.unique(grams[first], return_counts=True)
    return distinct, counts.astype(np.int64)


def merge_gram_counts(parts: list[GramCounts]) -> GramCounts:
    """Sum the counts of several parts, in any order."""
    if not parts:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    grams = np.concatenate([part[0] for part in parts])
    counts = np.concatenate([part[1] for part in parts])
    distinct, places = np.unique(grams, return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, places, counts)
    return distinct, total


def common_grams(counts: GramCounts, most_documents: int = 10) -> np.ndarray:
    """Return the grams (uint64, ascending) found in more than `most_documents` documents.

    They are common phrases and licence text, most likely no contamination, and are ignored.
    """
    grams, documents = counts
    return grams[documents > most_documents]


def contaminated_benchmarks(
    hits: pa.Array | pa.ChunkedArray, index: BenchmarkIndex, common: np.ndarray
) -> pa.Array:
    """Return for every document the names of the benchmarks it has a hit of, list<string>.

    `common` are the grams to ignore, ascending. The names of a document are in order.
    """
    offsets, grams, _, _ = hit_arrays(hits)
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    told = ~_among(grams, common)
    place, item = index.gram_pairs(grams[told])
    width = len(index.benchmarks)
    pairs = np.unique(document[told][place] * width + index.item_benchmark[item])
    ends = np.searchsorted(pairs, np.arange(len(offsets)) * width)
    names = pa.array(index.benchmarks, pa.string()).take(pa.array(pairs % width))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), names)


def seen_items(grams: np.ndarray, index: BenchmarkIndex, common: np.ndarray) -> np.ndarray:
    """Return which items hold one of the `grams` found in training text, bool[items].

    `grams` are keys of the index in any order (those of `gram_document_counts`, say), `common`
    those to ignore, ascending.
    """
    seen = np.zeros(len(index.item_ids), bool)
    seen[index.gram_pairs(grams[~_among(grams, common)])[1]] = True
    return seen


def _among(grams: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Tell which of `grams` occur in an ascending array."""
    if len(ascending) == 0:
        return np.zeros(len(grams), bool)
    places = np.minimum(np.searchsorted(ascending, grams), len(ascending) - 1)
    return ascending[places] == grams
