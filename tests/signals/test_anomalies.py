"""Signals of broken or odd text, by examples."""

import pyarrow as pa
import pytest

from corpusclean.signals.document import measure_document_signals


def signal(name: str, text: str) -> float | int | None:
    return measure_document_signals(pa.array([text])).column(name)[0].as_py()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("control", "a\x00b\x1b[0m\x7f\x85", 4),
        ("control", "tab\tline\r\n", 0),
        ("replacement", "caf\ufffd\ufffd", 2),
        ("private_use", "\ue000\uf8ff\U000f0000\U00100000", 4),
        ("unassigned", "\ufdd0\uffff\U0010ffff", 3),
        ("unassigned", "e\u0301 \u200d \ufeff \u00ad 😀", 0),
    ],
)
def test_faults_are_counted(name, text, expected):
    assert signal(f"{name}_characters", text) == expected
    assert signal(f"{name}_fraction", text) == expected / len(text)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("digit_fraction", "a1२３½", 3 / 5),
        ("letter_fraction", "aЯ漢ा1", 3 / 5),
        ("uppercase_fraction", "AbЯǅⅧ", 2 / 5),
        ("whitespace_fraction", "a \n\u3000\u200b", 3 / 5),
        ("cjk_fraction", "漢ァ한a。々", 4 / 6),
    ],
)
def test_shares(name, text, expected):
    assert signal(name, text) == expected
    assert signal(name, "") is None


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("a bcd\nef", 3), ("漢" * 40, 40), ("a\u200bb c", 3)]
)
def test_longest_unbroken_run(text, expected):
    assert signal("longest_unbroken_run", text) == expected
