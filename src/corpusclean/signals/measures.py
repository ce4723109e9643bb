"""Signals as quotients of the counts of `corpusclean.text.scan`.

Every signal of the family `signals` is a count, or one count over another, computed once in
float64. The modules of this room list them as `Measure` entries, from which both the reference
and the columns follow.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from corpusclean.signals.registry import Signal
from corpusclean.text.scan import TextCounts

__all__ = ["FINEWEB", "GOPHER", "UNICODE_SUFFIX", "WORD_KINDS", "Measure", "count", "quotient"]

FAMILY = "signals"

GOPHER = "Rae et al. 2021, arXiv:2112.11446, appendix A.1.1"
FINEWEB = "Penedo et al. 2024, arXiv:2406.17557"

UNICODE_SUFFIX = "_unicode"
"""Ends the names of signals and counts that stand on Unicode words."""

WORD_KINDS = {
    "": "whitespace words (str.split)",
    UNICODE_SUFFIX: "Unicode words (\\w+ or one other visible character)",
}
"""The two kinds of words, by the suffix of the names of their signals."""

_NULL_WHEN = {
    "characters": "the text is empty",
    "lines": "the text has no line",
    "paragraphs": "the text has no paragraph",
    "words": "the text has no word",
    "words_unicode": "the text has no word",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A signal, the count that it is, and the count by which that is divided, if any."""

    signal: Signal
    count: str
    per: str | None = None

    def column(self, counts: TextCounts) -> pa.Array:
        """Return the signal of every text: int64, or float64 with null where `per` counts 0."""
        values = counts[self.count]
        if self.per is None:
            return pa.array(values, pa.int64())
        denominator = counts[self.per]
        undefined = denominator == 0
        return pa.array(values / np.where(undefined, 1, denominator), pa.float64(), mask=undefined)


def count(name: str, counted: str, meaning: str, source: str = "this project") -> Measure:
    """Return a signal that is a count."""
    return Measure(Signal(name, "integer", FAMILY, meaning, source=source), counted)


def quotient(
    name: str,
    counted: str,
    per: str,
    meaning: str,
    source: str = "this project",
    kind: Literal["fraction", "number"] = "fraction",
) -> Measure:
    """Return a signal that is one count over another."""
    return Measure(Signal(name, kind, FAMILY, meaning, _NULL_WHEN[per], source), counted, per)
