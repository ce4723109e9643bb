"""The file that unreadable records go to."""

import base64
import json

from corpusclean.sources import quarantine_lines
from corpusclean.sources.records import quarantined


def test_lines_hold_all_that_is_known(read_bytes):
    found = read_bytes("a.jsonl", b'{"text":"a\xff"}\n' + b"x" * 9000)
    first, second = [json.loads(line) for line in quarantine_lines("in/a.jsonl", found.quarantined)]
    assert first["file"] == "in/a.jsonl" and first["position"] == 1
    assert first["cause"] == "invalid_utf8" and first["detail"]
    assert base64.b64decode(first["bytes"]) == b'{"text":"a\xff"}' and first["length"] == 13
    assert second["length"] == 9000 and base64.b64decode(second["bytes"]) == b"x" * 4096


def test_a_line_is_a_line_whatever_the_detail_holds():
    [line] = quarantine_lines("a", [quarantined(1, "wrong_type", b"\n\xff", "bad\n\ud800")])
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert json.loads(line)["detail"] == "bad\n?"


def test_no_records_are_no_lines():
    assert quarantine_lines("a", []) == []
