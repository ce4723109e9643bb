"""The columns that duplicates are found by: MinHash signature and exact hash."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from corpusclean.errors import RecipeError
from corpusclean.text.exact import exact_hashes
from corpusclean.text.minhash import permutations, sign_documents
from corpusclean.text.normalise import TokenStream, read_only, tokens

__all__ = ["Signer", "signature_matrix"]


@dataclass(frozen=True)
class Signer:
    """Signs texts, normalised as `corpusclean.text.folding.NORMALISATION` says.

    A shingle is `shingle` consecutive tokens if it begins with a word, and `character_shingle`
    if it begins with a character of a script without spaces; by default 1.6 times as many,
    rounded, which is about the number of Chinese characters in as many words. Every token of a
    text with enough tokens after it begins a shingle; at the end of a text there are fewer.

    `bands * rows` permutations make a signature; two texts whose shingle sets have the Jaccard
    similarity s share a band with probability 1 - (1 - s**rows)**bands.
    """

    shingle: int = 5
    bands: int = 14
    rows: int = 8
    character_shingle: int | None = None

    def __post_init__(self) -> None:
        for name in ("shingle", "bands", "rows", "character_shingle"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise RecipeError(
                    f"deduplicate.near.{name}: found {value}, expected a whole number of at "
                    "least 1; correct it in the recipe"
                )

    @property
    def permutations(self) -> int:
        """The number of 32-bit values of a signature."""
        return self.bands * self.rows

    @property
    def widths(self) -> tuple[int, int]:
        """How many tokens a shingle has that begins with a word, and with a character."""
        if self.character_shingle is not None:
            return self.shingle, self.character_shingle
        return self.shingle, (self.shingle * 8 + 2) // 5

    @cached_property
    def _constants(self) -> tuple[np.ndarray, np.ndarray]:
        multipliers, addends = permutations(self.permutations)
        return read_only(multipliers), read_only(addends)

    def sign(
        self, texts: pa.Array | pa.ChunkedArray, stream: TokenStream | None = None
    ) -> pa.RecordBatch:
        """Return `signature` and `exact_hash` of every text.

        `signature` is fixed_size_binary(4 * bands * rows), little-endian uint32, band after band,
        and null where the text is shorter than a shingle: such a text can only be an exact
        duplicate. `exact_hash` is fixed_size_binary(16), two big-endian halves, of the text
        normalised as `corpusclean.text.exact` says. `stream` is `tokens(texts)`, if it is at hand.
        """
        if stream is None:
            stream = tokens(texts)
        count = len(stream)
        signatures = np.empty((count, self.permutations), np.uint32)
        shingles = np.zeros(count, np.int64)
        exact = exact_hashes(texts)
        sign_documents(
            stream.hashes,
            stream.offsets,
            *self.widths,
            *self._constants,
            signatures,
            shingles,
        )
        return pa.RecordBatch.from_arrays(
            [
                _binary(signatures.astype("<u4", copy=False), shingles > 0),
                _binary(exact.astype(">u8")),
            ],
            ["signature", "exact_hash"],
        )


def _binary(values: np.ndarray, valid: np.ndarray | None = None) -> pa.Array:
    """Return the rows of a matrix as fixed_size_binary, without copying the values."""
    width = values.shape[1] * values.itemsize
    bitmap = None
    nulls = 0
    if valid is not None and not valid.all():
        bitmap = pa.py_buffer(np.packbits(valid, bitorder="little"))
        nulls = int(len(valid) - np.count_nonzero(valid))
    return pa.Array.from_buffers(
        pa.binary(width), len(values), [bitmap, pa.py_buffer(values)], null_count=nulls
    )


def signature_matrix(column: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return a `signature` column as uint32[n, k] and which rows have one, bool[n].

    The values of a row without a signature are unspecified. Nothing is copied if the column is
    in one chunk.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    width = column.type.byte_width
    valid = np.ones(len(column), bool)
    if column.null_count:
        valid = column.is_valid().to_numpy(zero_copy_only=False)
    if len(column) == 0:
        return np.zeros((0, width // 4), np.uint32), valid
    begin = column.offset * width
    values = np.frombuffer(column.buffers()[1], np.uint8)[begin : begin + len(column) * width]
    return values.view("<u4").reshape(len(column), width // 4), valid
