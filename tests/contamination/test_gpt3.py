"""The cleaning rule of GPT-3."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusclean.contamination.gpt3 import Gpt3Decision, clean
from corpusclean.contamination.index import build_index
from corpusclean.contamination.scan import find_hits, hit_arrays

PASSAGE = " ".join(f"item{i:02d}" for i in range(40))
NOTHING = np.zeros(0, np.uint64)


def clean_text(characters: int, salt: str = "p") -> str:
    """Return so many characters of words that begin and end with a full stop."""
    words = "".join(f" {salt}{i:04d}" for i in range(characters))
    return f".{words[: characters - 2]}."


def decide(text: str, common: np.ndarray = NOTHING) -> Gpt3Decision:
    index = build_index({"planted": [("1", PASSAGE)]})
    _, grams, starts, ends = hit_arrays(find_hits(pa.array([text]), index))
    return clean(grams, starts, ends, len(text), common)


def at(*spans: tuple[int, int], characters: int) -> Gpt3Decision:
    return clean(
        [1] * len(spans), [a for a, _ in spans], [b for _, b in spans], characters, NOTHING
    )


def kept(decision: Gpt3Decision, characters: int) -> list[int]:
    edges = [0, *(edge for cut in decision.cuts for edge in cut), characters]
    return [b - a for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]


def test_one_passage_leaves_two_pieces_of_800_characters() -> None:
    text = clean_text(1000, "a") + PASSAGE + clean_text(1000, "b")
    decision = decide(text)
    assert decision == Gpt3Decision([(800, 1200 + len(PASSAGE))], 2, False)
    assert kept(decision, len(text)) == [800, 800]


@pytest.mark.parametrize(
    ("passages", "pieces", "drop"), [(0, 1, False), (1, 2, False), (2, 3, False), (9, 10, False),
                                     (10, 11, True), (11, 12, True)]
)  # fmt: skip
def test_passages_apart(passages: int, pieces: int, drop: bool) -> None:
    text = clean_text(1000, "a")
    for i in range(passages):
        text += PASSAGE + clean_text(1000, "bcdefghijkl"[i])
    decision = decide(text)
    assert (decision.pieces, decision.drop) == (pieces, drop)
    assert len(decision.cuts) == passages


def test_a_short_document_without_a_hit_stays() -> None:
    assert decide(clean_text(150)) == Gpt3Decision([], 1, False)
    assert decide("") == Gpt3Decision([], 0, False)


def test_common_grams_do_not_count() -> None:
    text = clean_text(1000, "a") + PASSAGE + clean_text(1000, "b")
    index = build_index({"planted": [("1", PASSAGE)]})
    grams = index.table.grams
    assert decide(text, grams) == Gpt3Decision([], 1, False)
    first = find_hits(pa.array([text]), index)[0].as_py()[0]["gram"]
    others = grams[grams != first]
    start = text.index("item00")
    assert decide(text, others).cuts == [(800, start + 13 * 7 - 1 + 200)]


@pytest.mark.parametrize(
    ("spans", "characters", "cuts", "pieces"),
    [
        # at the edges of the text
        ([(0, 50)], 1000, [(0, 250)], 1),
        ([(950, 1000)], 1000, [(750, 1000)], 1),
        ([(399, 450)], 500, [(0, 500)], 1),
        ([(100, 150)], 300, [(0, 300)], 0),
        # a piece of 199 characters goes, one of 200 stays
        ([(399, 450)], 2000, [(0, 650)], 2),
        ([(400, 450)], 2000, [(200, 650)], 2),
        ([(1550, 1600)], 2000, [(1350, 1800)], 2),
        ([(1550, 1601)], 2000, [(1350, 2000)], 2),
        # windows that overlap, touch, or leave 199 or 200 characters between them
        ([(1000, 1050), (1100, 1150)], 5000, [(800, 1350)], 2),
        ([(1000, 1050), (1450, 1500)], 5000, [(800, 1700)], 2),
        ([(1000, 1050), (1649, 1700)], 5000, [(800, 1900)], 3),
        ([(1000, 1050), (1650, 1700)], 5000, [(800, 1250), (1450, 1900)], 3),
        # a hit inside another, and hits out of order
        ([(1000, 3000), (1100, 1150)], 5000, [(800, 3200)], 2),
        ([(3000, 3050), (1000, 1050)], 5000, [(800, 1250), (2800, 3250)], 3),
    ],
)
def test_windows(
    spans: list[tuple[int, int]], characters: int, cuts: list[tuple[int, int]], pieces: int
) -> None:
    decision = at(*spans, characters=characters)
    assert decision.cuts == cuts
    assert decision.pieces == pieces


def naive(spans: list[tuple[int, int]], characters: int) -> Gpt3Decision:
    """State the rule on one flag a character."""
    removed = [any(a - 200 <= i < b + 200 for a, b in spans) for i in range(characters)]
    pieces, start = [], None
    for i, gone in enumerate([*removed, True]):
        if not gone and start is None:
            start = i
        if gone and start is not None:
            pieces.append((start, i))
            start = None
    left = [(a, b) for a, b in pieces if b - a >= 200 or not spans]
    edges = [0, *(edge for piece in left for edge in piece), characters]
    cuts = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]
    return Gpt3Decision(cuts, len(pieces), len(pieces) > 10)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 5000),
    st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 120)), max_size=14),
)
def test_the_rule_is_that_of_the_plain_statement(
    characters: int, hits: list[tuple[int, int]]
) -> None:
    spans = [(a, min(a + b, characters)) for a, b in hits if a < characters]
    assert at(*spans, characters=characters) == naive(spans, characters)
