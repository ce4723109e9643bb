"""What is told of a running stage, on a terminal and elsewhere."""

import io

import pytest

from corpusclean.engine.accounts import EMPTY, add_accounts, add_counts
from corpusclean.engine.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def worked(stream: io.StringIO, monkeypatch, quiet: bool = False) -> str:
    """Tell of a stage of two tasks, the first done after 20 seconds."""
    clock = [0.0]
    monkeypatch.setattr("corpusclean.engine.progress.time.monotonic", lambda: clock[0])
    progress = Progress(stream, quiet)
    progress.begin("measure")
    progress.expect([1, 3])
    clock[0] = 20.0
    progress.advanced(1000, 40_000_000)
    counts = {"sources": {"a": {"kept": 30, "dropped": {"x.y": 10}}}}
    progress.finished(1, EMPTY._replace(counts=counts, parts=1))
    progress.tick()
    progress.tick()
    progress.end(EMPTY._replace(parts=2))
    return stream.getvalue()


def test_quiet_lines_where_there_is_no_terminal(monkeypatch):
    told = worked(io.StringIO(), monkeypatch).splitlines()
    assert told == [
        "measure: 1 of 2 parts  1,000 documents, 2.0 MB/s  75.0% kept  25%, 1:00 left",
        "measure: done in 20.0 s, 2 parts",
    ]


def test_a_live_line_on_a_terminal_is_cleared_before_messages(monkeypatch):
    told = worked(Terminal(), monkeypatch)
    assert told.startswith("\r\x1b[Kmeasure: 1 of 2 parts")
    assert told.endswith("\r\x1b[Kmeasure: done in 20.0 s, 2 parts\n")


def test_quiet_says_nothing(monkeypatch):
    assert worked(Terminal(), monkeypatch, quiet=True) == ""


def test_a_stage_without_work_says_so():
    stream = io.StringIO()
    progress = Progress(stream)
    progress.begin("mix")
    progress.end(EMPTY._replace(parts=3, parts_reused=3))
    assert stream.getvalue() == "mix: nothing to do, all 3 parts stand\n"


@pytest.mark.parametrize(
    ("first", "second", "total"),
    [
        ({}, {}, {}),
        ({"a": 1}, {}, {"a": 1}),
        ({"a": 1}, {"a": 2, "b": 3}, {"a": 3, "b": 3}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": {"d": 4}}}, {"a": {"b": 2, "c": {"d": 4}}}),
    ],
)
def test_counts_add_up_in_any_order(first, second, total):
    assert add_counts(first, second) == add_counts(second, first) == total


def test_accounts_add_up_and_keep_the_highest_peak():
    one = EMPTY._replace(documents=2, peak_rss_bytes=5, parts=1, cpu_seconds=0.5)
    two = EMPTY._replace(documents=3, peak_rss_bytes=9, parts=1, parts_reused=1)
    total = add_accounts([one, two])
    assert (total.documents, total.peak_rss_bytes, total.parts, total.parts_reused) == (5, 9, 2, 1)
