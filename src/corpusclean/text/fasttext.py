"""The top label of a supervised fastText model for every text of a batch.

The arithmetic of the fastText library (Joulin et al. 2016, arXiv:1607.01759), in kernels that
read Arrow buffers and release the GIL. Models with hierarchical softmax and with softmax.

What the library does with a line, and so does this with a text, its line feeds taken as spaces:
- The bytes space, `\t`, `\n`, `\v`, `\f`, `\r` and NUL separate words.
- The word `</s>` ends the text: what follows is not read. Without it the text ends with one.
- A word that begins with `__label__` is a label, and counts for nothing.
- A known word has a row of its own, and every word the rows of its character n-grams between
  `<` and `>`. A pruned model has the rows of some n-grams only.

A word's rows are added up in 32 bits, and the words of a text in 64: the library adds all of them
in 32, and is off by some 2e-4 for a text of hundreds of kilobytes.
"""

import numpy as np
import pyarrow as pa
from numba import njit

from corpusclean.text.arrow import string_buffers
from corpusclean.text.fasttext_file import HIERARCHICAL, ModelFile
from corpusclean.text.fasttext_kernels import END_WORD, Tables, average_rows, fill_slots
from corpusclean.text.hashing import KERNEL
from corpusclean.text.normalise import read_only

__all__ = ["FastText"]

_SPACES = b" \t\n\v\f\r\0"
_HEAVIER_THAN_ANY = 10**15
_LOG_FLOOR = 1e-5
"""The library adds it to every probability before it takes the logarithm."""


class FastText:
    """A supervised model, ready to predict."""

    def __init__(self, model: ModelFile) -> None:
        self.labels = tuple(model.labels)
        self._loss = model.loss
        self._output = model.output
        self._tables = _tables(model)
        self._tree = _huffman_tree(model.label_counts)

    def predict(self, texts: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
        """Return the top label of every text, as an index in `labels`, and its probability.

        Returns int32 and float64 of n. Probabilities are the library's, not capped: they may
        exceed 1 by a little. The label is -1, and the probability 0, where the model has no row
        for anything in a text, not even its end.
        """
        data, offsets = map(read_only, string_buffers(texts))
        count = len(offsets) - 1
        hidden = np.empty((count, self._tables.rows.shape[1]), np.float64)
        counts = np.empty(count, np.int64)
        average_rows(data, offsets, self._tables, hidden, counts)
        labels = np.empty(count, np.int32)
        scores = np.empty(count, np.float64)
        if self._loss == HIERARCHICAL:
            _walk_tree(hidden, counts, self._output, *self._tree, labels, scores)
        else:
            _score_labels(hidden, counts, self._output, len(self.labels), labels, scores)
        return labels, scores


def _tables(model: ModelFile) -> Tables:
    words = len(model.words)
    rows = model.rows
    has_row = np.zeros(model.buckets // 64 * 64 + 64, np.uint8)
    if model.pruned is None:
        has_row[: model.buckets] = 1
    else:
        kept = model.pruned[np.argsort(model.pruned[:, 0], kind="stable")].astype(np.int64)
        has_row[kept[:, 0]] = 1
        rows = np.concatenate([rows[:words], rows[words + kept[:, 1]]])
    bits = np.packbits(has_row, bitorder="little").view(np.uint64)
    ranks = np.zeros(len(bits), np.int32)
    ranks[1:] = np.cumsum(has_row.reshape(-1, 64).sum(axis=1))[:-1]
    is_space = np.zeros(256, np.bool_)
    is_space[np.frombuffer(_SPACES, np.uint8)] = True
    blob = np.frombuffer(b"".join(model.words), np.uint8).copy()
    starts = np.zeros(words + 1, np.int64)
    np.cumsum([len(word) for word in model.words], out=starts[1:])
    slots = np.full(1 << (2 * words).bit_length(), -1, np.int32)
    fill_slots(blob, starts, slots)
    return Tables(
        rows=np.ascontiguousarray(rows),
        bits=bits,
        ranks=ranks,
        slots=slots,
        word_bytes=blob,
        word_starts=starts,
        end_word=model.words.index(END_WORD) if END_WORD in model.words else -1,
        is_space=is_space,
        buckets=model.buckets,
        shortest=model.shortest,
        # Without buckets there is no row for an n-gram.
        longest=model.longest if model.buckets > 0 else 0,
        word_ngrams=model.word_ngrams if model.buckets > 0 else 1,
    )


def _huffman_tree(counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the left and right child of every node: labels first, the root last; -1 for leaves.

    Labels come by falling count; the two rarest nodes are joined again and again.
    """
    leaves = len(counts)
    nodes = max(2 * leaves - 1, 1)
    weight = [*counts, *[_HEAVIER_THAN_ANY] * (nodes - leaves)]
    children = np.full((2, nodes), -1, np.int32)
    leaf, node = leaves - 1, leaves
    for parent in range(leaves, nodes):
        for side in range(2):
            if leaf >= 0 and weight[leaf] < weight[node]:
                children[side, parent] = leaf
                leaf -= 1
            else:
                children[side, parent] = node
                node += 1
        weight[parent] = weight[children[0, parent]] + weight[children[1, parent]]
    return children[0].copy(), children[1].copy()


@njit(**KERNEL)
def _walk_tree(
    hidden: np.ndarray,
    counts: np.ndarray,
    output: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    labels: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Find the best leaf of the Huffman tree for every text, the likelier branch first."""
    leaves = (left.shape[0] + 1) // 2
    nodes = np.empty(left.shape[0] + 1, np.int32)
    chances = np.empty(left.shape[0] + 1, np.float64)
    for text in range(hidden.shape[0]):
        best = -np.inf
        labels[text] = -1
        waiting = 0
        if counts[text]:
            nodes[0] = left.shape[0] - 1
            chances[0] = 0.0
            waiting = 1
        while waiting:
            waiting -= 1
            node = nodes[waiting]
            chance = chances[waiting]
            if chance <= best:
                continue
            if left[node] < 0:
                best = chance
                labels[text] = node
                continue
            product = 0.0
            for k in range(hidden.shape[1]):
                product += np.float64(output[node - leaves, k]) * np.float64(hidden[text, k])
            share = 1.0 / (1.0 + np.exp(-product))
            to_left = chance + np.log(1.0 - share + _LOG_FLOOR)
            to_right = chance + np.log(share + _LOG_FLOOR)
            first = 0 if to_left <= to_right else 1
            nodes[waiting + first] = left[node]
            chances[waiting + first] = to_left
            nodes[waiting + 1 - first] = right[node]
            chances[waiting + 1 - first] = to_right
            waiting += 2
        scores[text] = np.exp(best)


@njit(**KERNEL)
def _score_labels(
    hidden: np.ndarray,
    counts: np.ndarray,
    output: np.ndarray,
    label_count: int,
    labels: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Find the label of the greatest softmax for every text."""
    products = np.empty(label_count, np.float64)
    for text in range(hidden.shape[0]):
        labels[text] = -1
        scores[text] = 0.0
        if counts[text] == 0:
            continue
        for label in range(label_count):
            product = 0.0
            for k in range(hidden.shape[1]):
                product += np.float64(output[label, k]) * np.float64(hidden[text, k])
            products[label] = product
        best = np.argmax(products)
        total = 0.0
        for label in range(label_count):
            total += np.exp(products[label] - products[best])
        labels[text] = best
        scores[text] = 1.0 / total + _LOG_FLOOR
