"""The ledger: adding up, balancing, and its JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.errors import LedgerError
from corpusclean.ledger import Ledger, SourceLedger

WEB = SourceLedger(
    read=10,
    kept=6,
    emitted=4,
    unused=2,
    dropped={"gopher_quality.too_few_words": 2, "duplicate.near": 1},
    quarantined={"invalid_json": 1},
    blank=3,
    reasons={"gopher_quality.too_few_words": 2, "duplicate.near": 1, "anomalies.digits": 1},
    cuts={"contamination.quiz": 2},
)
NAMES = st.sampled_from(["a.b", "duplicate.exact", "cut.empty", "truncated"])
COUNTS = st.dictionaries(NAMES, st.integers(0, 1000), max_size=4)


@st.composite
def accounts(draw) -> SourceLedger:
    """Make an account that balances."""
    dropped, quarantined = draw(COUNTS), draw(COUNTS)
    emitted, unused = draw(st.integers(0, 1000)), draw(st.integers(0, 1000))
    read = emitted + unused + sum(dropped.values()) + sum(quarantined.values())
    return SourceLedger(
        read,
        emitted + unused,
        emitted,
        unused,
        dropped,
        quarantined,
        draw(st.integers(0, 9)),
        draw(COUNTS),
        draw(COUNTS),
    )


def test_json_has_the_shape_of_the_design():
    content = Ledger({"web": WEB}).to_json()
    assert content == {
        "sources": {
            "web": {
                "read": 10,
                "kept": 6,
                "emitted": 4,
                "unused": 2,
                "dropped": {"duplicate.near": 1, "gopher_quality.too_few_words": 2},
                "quarantined": {"invalid_json": 1},
                "blank": 3,
                "reasons": {
                    "anomalies.digits": 1,
                    "duplicate.near": 1,
                    "gopher_quality.too_few_words": 2,
                },
                "cuts": {"contamination.quiz": 2},
                "undefined": {},
            }
        }
    }
    assert list(content["sources"]["web"]["dropped"]) == [
        "duplicate.near",
        "gopher_quality.too_few_words",
    ]


def test_json_does_not_depend_on_the_order_of_counting():
    first = SourceLedger(read=3, dropped={"a": 1, "b": 2})
    second = SourceLedger(read=3, dropped={"b": 2, "a": 1, "c": 0})
    assert json.dumps(first.to_json()) == json.dumps(second.to_json())


def test_balanced():
    Ledger({"web": WEB, "code": SourceLedger()}).balance()


@pytest.mark.parametrize(
    ("account", "message"),
    [
        (SourceLedger(read=10, kept=9), "source web: read 10 but kept 9 .* 1 are missing"),
        (SourceLedger(read=10, kept=9, dropped={"a": 2}), "= 11; 1 too many"),
        (SourceLedger(read=10, kept=8, quarantined={"x": 1}), "quarantined 1 = 9; 1 are missing"),
        (
            SourceLedger(read=5, kept=5, emitted=3, unused=1),
            "kept 5 but emitted 3 .* 1 are missing",
        ),
        (SourceLedger(read=5, kept=5, emitted=5, unused=1), "= 6; 1 too many"),
        (SourceLedger(read=0, kept=-1, dropped={"a": 1}), "found kept -1 in kept"),
        (SourceLedger(read=0, dropped={"a": 1, "b": -1}, kept=0), "found b -1 in dropped"),
    ],
)
def test_unbalanced(account, message):
    with pytest.raises(LedgerError, match=message):
        Ledger({"web": account}).balance()


def test_all_sources_that_do_not_balance_are_named():
    bad = SourceLedger(read=1, kept=0)
    with pytest.raises(LedgerError, match=r"source a: .*source c: ") as caught:
        Ledger({"a": bad, "b": WEB, "c": bad}).balance()
    assert "source b" not in str(caught.value)


def test_what_no_stage_has_told_is_not_held_against_it():
    Ledger({"web": SourceLedger(read=10, quarantined={"x": 1})}).balance()
    Ledger({"web": SourceLedger(read=10, kept=10)}).balance()


def test_merging_stages_and_parts():
    measured = Ledger({"web": SourceLedger(read=7, quarantined={"x": 1}, blank=2)})
    more = Ledger({"web": SourceLedger(read=3), "code": SourceLedger(read=1)})
    selected = Ledger({"web": SourceLedger(kept=7, dropped={"a.b": 2})}, {"quiz": {"items": 3}})
    other = Ledger({"code": SourceLedger(kept=1)}, {"quiz": {"items": 1, "documents": 2}})
    ledger = Ledger.merged(["code", "web", "empty"], [measured, selected, more, other])
    assert list(ledger.sources) == ["code", "web", "empty"]
    assert ledger.sources["web"] == SourceLedger(
        10, 7, dropped={"a.b": 2}, quarantined={"x": 1}, blank=2
    )
    assert ledger.benchmarks == {"quiz": {"items": 4, "documents": 2}}
    ledger.balance()


def test_merging_refuses_a_source_that_nobody_knows():
    with pytest.raises(LedgerError, match="wbe"):
        Ledger.merged(["web"], [Ledger({"wbe": WEB})])


def test_table():
    header, rows = Ledger({"web": WEB, "code": SourceLedger(read=2)}).table()
    assert header == ["source", "read", "kept", "dropped", "quarantined", "emitted", "unused"]
    assert rows == [
        ["web", 10, 6, 3, 1, 4, 2],
        ["code", 2, None, None, 0, None, None],
        ["all", 12, 6, 3, 1, 4, 2],
    ]
    assert len(Ledger({"web": WEB}).table()[1]) == 1


@given(st.lists(accounts(), min_size=1, max_size=5))
def test_sums_of_balanced_accounts_balance(found):
    total = SourceLedger()
    for account in found:
        total = total + account
    Ledger({"web": total}).balance()
    assert total.read == sum(account.read for account in found)
    backwards = SourceLedger()
    for account in reversed(found):
        backwards = backwards + account
    assert backwards.to_json() == total.to_json()


@given(accounts())
def test_json_and_back(account):
    ledger = Ledger({"web": account}, {"quiz": {"items": 2}})
    content = json.loads(json.dumps(ledger.to_json()))
    assert Ledger.from_json(content).to_json() == ledger.to_json()
