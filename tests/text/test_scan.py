"""What the scan of a batch promises whatever the texts are; their numbers stand in signals."""

import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.text.scan import COUNTS, scan

TEXTS = [
    "",
    "One line, and another.\nOne line, and another.\n",
    "今天天气很好。" * 20,
    "हिन्दी में एक वाक्य। दूसरा वाक्य।\n\nमराठी",
    "Zeile…\r\n\r\n- Punkt\r\n",
    "🎉 👩‍👩‍👧 e\u0301",
    "a b c d e f " * 100,
]


def test_names_are_unique_and_name_the_columns():
    counts = scan(pa.array(TEXTS))
    assert len(set(COUNTS)) == len(COUNTS)
    assert counts.matrix.shape == (len(TEXTS), len(COUNTS))
    assert counts.matrix.dtype == np.int64
    assert counts["characters"].tolist() == [len(text) for text in TEXTS]
    assert counts["bytes"].tolist() == [len(text.encode()) for text in TEXTS]
    assert len(counts) == len(TEXTS)


@pytest.mark.parametrize("texts", [[], [None], [""], [None, "", None]])
def test_empty_texts_count_nothing(texts):
    counts = scan(pa.array(texts, pa.large_string()))
    assert counts.matrix.shape == (len(texts), len(COUNTS))
    assert not counts.matrix.any()


@given(st.permutations(range(len(TEXTS))))
def test_a_text_has_its_counts_wherever_it_stands(order):
    alone = np.concatenate([scan(pa.array([text])).matrix for text in TEXTS])
    together = scan(pa.array([TEXTS[i] for i in order])).matrix
    assert (together == alone[order]).all()


def test_any_arrow_form_of_the_same_texts():
    expected = scan(pa.array(TEXTS)).matrix
    large = pa.array(["before", *TEXTS, "after"], pa.large_string())
    for texts in (
        pa.array(TEXTS, pa.large_string()),
        large.slice(1, len(TEXTS)),
        pa.chunked_array([TEXTS[:3], [], TEXTS[3:]], pa.string()),
    ):
        assert (scan(texts).matrix == expected).all()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_newline_of_windows_is_a_newline(newline):
    lines = ["- First.", "Second…", "", "Third", "Third", "", "Third", "Third"]
    names = [name for name in COUNTS if "line" in name or "paragraph" in name]
    unix = scan(pa.array(["\n".join(lines)]))
    here = scan(pa.array([newline.join(lines)]))
    assert {n: here[n][0] for n in names} == {n: unix[n][0] for n in names}
    assert (unix["lines"][0], unix["duplicate_lines"][0]) == (6, 3)
    assert (unix["paragraphs"][0], unix["duplicate_paragraphs"][0]) == (3, 1)


def test_without_a_final_newline_nothing_changes_but_the_newline():
    with_it, without = scan(pa.array(["One.\nTwo.\n", "One.\nTwo."])).matrix
    changed = {name for name, a, b in zip(COUNTS, with_it, without, strict=True) if a != b}
    assert changed == {"bytes", "characters", "whitespace", "newlines"}


MEASURE = """
    import resource
    from pathlib import Path
    import pyarrow as pa
    from corpusclean.text.scan import scan

    scan(pa.array(["warm up."], pa.large_string()))
    texts = pa.array([{text}], pa.large_string())
    assert texts.nbytes > 50_000_000
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    counts = scan(texts)
    # Not ru_maxrss, which begins with the peak of the process that started this one.
    status = Path("/proc/self/status").read_text()
    print(int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6 - before)
    for name in {names}:
        print(counts[name][0])
"""

PHRASE = "spam ham eggs toast jam tea milk rice corn beans peas figs"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # So many different words that the table is filled in parts, around a phrase told thrice.
        pytest.param(
            f"'{PHRASE} ' + ' '.join(f'{{i:x}}' for i in range(1 << 20, (1 << 20) + 3_400_000)) "
            f"+ ' {PHRASE} ' "
            f"+ ' '.join(f'{{i:x}}' for i in range(1 << 24, (1 << 24) + 3_400_000)) + ' {PHRASE}'",
            {
                "words": 6_800_036,
                "words_unicode": 6_800_036,
                "repeated_2gram_characters": 3 * len("eggs toast"),
                "repeated_4gram_characters_unicode": 3 * len("rice corn beans peas"),
                "repeated_5gram_characters": 3 * len(PHRASE),
                "repeated_10gram_characters_unicode": 3 * len(PHRASE),
            },
            id="words",
        ),
        pytest.param(
            "'a\\n' * 25_200_000",
            {
                "lines": 25_200_000,
                "duplicate_lines": 25_199_999,
                "repeated_2gram_characters": 50_399_999,
                "repeated_10gram_characters": 50_399_999,
            },
            id="lines",
        ),
    ],
)
def test_a_document_of_50_megabytes_takes_less_than_a_gigabyte(text, expected):
    code = textwrap.dedent(MEASURE).format(text=text, names=list(expected))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    megabytes, *counts = run.stdout.split()
    assert [int(count) for count in counts] == list(expected.values())
    assert float(megabytes) < 1000
