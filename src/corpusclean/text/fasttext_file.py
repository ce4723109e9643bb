"""The fastText model format, version 12: `.bin`, and `.ftz` with quantised matrices.

All numbers are little-endian:

| part | content |
|---|---|
| header | int32 magic 793712314, int32 version |
| arguments | 12 int32: dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate; float64 t |
| dictionary | int32 entries, words, labels; int64 tokens, pruned; entries of (bytes, NUL, int64 count, int8 type); pruned pairs of int32 |
| input | bool quantised, matrix |
| output | bool quantised, matrix |

A dense matrix is int64 rows, int64 columns and float32 values. A quantised one is a product
quantisation: each row a byte for each group of columns, naming one of 256 centroids.
"""  # noqa: E501

import struct
from dataclasses import dataclass

import numpy as np

from corpusclean.errors import InputError

__all__ = ["HIERARCHICAL", "SOFTMAX", "ModelFile", "read_model"]

HIERARCHICAL = 1
SOFTMAX = 3

_MAGIC = 793712314
_VERSIONS = (11, 12)
_SUPERVISED = 3
_CENTROIDS = 256
_LABEL = b"__label__"


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds, dequantised.

    `pruned` is None for a model with all n-gram rows, else int32 pairs (bucket, row): the row of
    `rows`, counted from the words' end, that n-grams of that bucket kept.
    """

    loss: int
    word_ngrams: int
    buckets: int
    shortest: int
    longest: int
    words: list[bytes]
    labels: list[str]
    label_counts: list[int]
    pruned: np.ndarray | None
    rows: np.ndarray
    output: np.ndarray


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0

    def numbers(self, layout: str) -> tuple:
        values = struct.unpack_from("<" + layout, self.content, self.position)
        self.position += struct.calcsize("<" + layout)
        return values

    def array(self, dtype: str, count: int) -> np.ndarray:
        values = np.frombuffer(self.content, dtype, count, self.position)
        self.position += values.nbytes
        return values.copy()

    def text(self) -> bytes:
        end = self.content.index(b"\0", self.position)
        value = self.content[self.position : end]
        self.position = end + 1
        return value

    def matrix(self) -> np.ndarray:
        (quantised,) = self.numbers("?")
        if quantised:
            return self._quantised()
        rows, columns = self.numbers("qq")
        return self.array("<f4", rows * columns).reshape(rows, columns)

    def _quantised(self) -> np.ndarray:
        has_norms, rows, columns, size = self.numbers("?qqi")
        codes = self.array("u1", size).reshape(rows, -1)
        groups, width, last, centroids = self._quantiser()
        values = np.zeros((rows, columns), np.float32)
        for group in range(groups):
            wide = last if group == groups - 1 else width
            first = group * _CENTROIDS * width
            table = centroids[first : first + _CENTROIDS * wide].reshape(_CENTROIDS, wide)
            values[:, group * width : group * width + wide] = table[codes[:, group]]
        if has_norms:
            norm_codes = self.array("u1", rows)
            *_, norms = self._quantiser()
            values *= norms[norm_codes][:, None]
        return values

    def _quantiser(self) -> tuple[int, int, int, np.ndarray]:
        columns, groups, width, last = self.numbers("4i")
        return groups, width, last, self.array("<f4", columns * _CENTROIDS)


def read_model(content: bytes, name: str) -> ModelFile:
    """Parse the bytes of a model file; InputError, naming `name`, if it is not a supervised one."""
    try:
        return _parse(content, name)
    except (struct.error, ValueError, IndexError) as error:
        raise InputError(f"{name}: the fastText model is cut short or damaged: {error}") from error


def _parse(content: bytes, name: str) -> ModelFile:
    reader = _Reader(content)
    magic, version = reader.numbers("ii")
    if magic != _MAGIC or version not in _VERSIONS:
        raise InputError(
            f"{name}: not a fastText model of version 11 or 12 "
            f"(magic {magic}, version {version}); give a .bin or .ftz file"
        )
    arguments = reader.numbers("12i")
    word_ngrams, loss, model, buckets, shortest, longest = arguments[5:11]
    reader.numbers("d")
    if model != _SUPERVISED or loss not in (HIERARCHICAL, SOFTMAX):
        raise InputError(
            f"{name}: model kind {model} with loss {loss}; expected a supervised model (3) with "
            "hierarchical softmax (1) or softmax (3)"
        )
    if version == 11:
        longest = 0
    words, labels, label_counts, pruned = _dictionary(reader)
    rows = reader.matrix()
    output = reader.matrix()
    if rows.shape[1] != output.shape[1] or output.shape[0] < len(labels) - (loss == HIERARCHICAL):
        raise InputError(f"{name}: matrices {rows.shape} and {output.shape} do not fit together")
    return ModelFile(
        loss, word_ngrams, buckets, shortest, longest, words, labels, label_counts, pruned, rows,
        output,
    )  # fmt: skip


def _dictionary(reader: _Reader) -> tuple[list[bytes], list[str], list[int], np.ndarray | None]:
    entries, _, _ = reader.numbers("iii")
    _, pruned_count = reader.numbers("qq")
    words = []
    labels = []
    label_counts = []
    for _ in range(entries):
        text = reader.text()
        count, kind = reader.numbers("qb")
        if kind == 0:
            words.append(text)
        else:
            labels.append(text.removeprefix(_LABEL).decode("utf-8"))
            label_counts.append(count)
    if pruned_count < 0:
        return words, labels, label_counts, None
    return words, labels, label_counts, reader.array("<i4", 2 * pruned_count).reshape(-1, 2)
