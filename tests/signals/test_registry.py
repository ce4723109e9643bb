"""The reference of all signals, and that it tells of every column and of no other."""

import pyarrow as pa
import pytest

from corpusclean.signals import all_signals
from corpusclean.signals.document import measure_document_signals

TEXTS = pa.array(["", "One line.\nOne line.\n\n1234 …", "#", "漢字" * 30])


def test_the_reference_tells_of_every_column():
    batch = measure_document_signals(TEXTS)
    told = [signal.name for signal in all_signals().values() if signal.family == "signals"]
    assert sorted(batch.schema.names) == sorted(told)
    assert len(set(batch.schema.names)) == batch.num_columns


def test_columns_are_what_the_reference_says():
    batch = measure_document_signals(TEXTS)
    for name, signal in all_signals().items():
        if signal.family != "signals":
            continue
        values = [value for value in batch.column(name).to_pylist() if value is not None]
        assert all(value >= 0 for value in values), name
        if signal.kind == "integer":
            assert batch.column(name).type == pa.int64()
        elif signal.kind == "fraction":
            assert max(values) <= 1, name
        assert (batch.column(name).null_count > 0) == (signal.null_when != "never"), name


def test_every_reference_is_complete():
    for name, signal in all_signals().items():
        assert signal.name == name
        assert signal.meaning.endswith("."), name
        assert signal.source, name


@pytest.mark.parametrize(
    "name",
    [
        "characters",
        "words",
        "words_unicode",
        "mean_word_length",
        "stop_words_unicode",
        "duplicate_paragraph_character_fraction",
        "top_4gram_character_fraction_unicode",
        "duplicate_10gram_character_fraction",
        "newline_word_ratio",
        "language",
        "language_probability",
    ],
)
def test_published_names(name):
    assert name in all_signals()
