"""The family `signals`: every number that one scan of a document yields, and how large it is."""

import pyarrow as pa

from corpusclean.signals import anomalies, quality, repetition
from corpusclean.signals.measures import WORD_KINDS, Measure, count
from corpusclean.signals.registry import Signal
from corpusclean.text.scan import scan

__all__ = ["REFERENCE", "VERSION", "measure_document_signals"]

VERSION = "1"
"""Raised when a signal of any text changes, or the signals themselves do."""

_SIZES: tuple[Measure, ...] = (
    count("characters", "characters", "Characters (Unicode code points) of the text."),
    count("bytes", "bytes", "Bytes of the text in UTF-8."),
    count("letters", "letters", "Letters of any script (str.isalpha)."),
    count("lines", "lines", "Pieces between newlines that are not blank."),
    count("paragraphs", "paragraphs", "Longest runs of lines without a blank one between them."),
    *(
        measure
        for suffix, words in WORD_KINDS.items()
        for measure in (
            count(f"words{suffix}", f"words{suffix}", f"Number of words; {words}."),
            count(
                f"max_word_length{suffix}",
                f"longest_word{suffix}",
                f"Characters of the longest word, 0 if there is none; {words}.",
            ),
        )
    ),
)

_MEASURES = (*_SIZES, *quality.MEASURES, *repetition.MEASURES, *anomalies.MEASURES)

REFERENCE: tuple[Signal, ...] = tuple(measure.signal for measure in _SIZES)


def measure_document_signals(texts: pa.Array | pa.ChunkedArray) -> pa.RecordBatch:
    """Return the signals of each text, a column a signal, in the order of their references.

    Counts are int64 and never null; quotients are float64, and null where they are undefined. A
    null text counts as empty; text must be valid UTF-8 and under 2 GiB.
    """
    counts = scan(texts)
    return pa.RecordBatch.from_arrays(
        [measure.column(counts) for measure in _MEASURES],
        names=[measure.signal.name for measure in _MEASURES],
    )
