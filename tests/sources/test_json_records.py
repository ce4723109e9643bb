"""One line of JSON: which are documents, and why the others are not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.errors import InputError
from corpusclean.sources.json_records import JsonRecords, Refused
from corpusclean.sources.records import CAUSES, ColumnSpec

ALL = ColumnSpec("text", "id", "url", ("meta", "score"))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"text":"a"}', "a"),
        (b'{"text":""}', ""),
        (b' \t{"text" : "a"} \r', "a"),
        (b'{"text":"\\u0000"}', "\0"),
        (b'{"text":"\\r\\n\\n"}', "\r\n\n"),
        (b'{"text":"a\\/b\\u00e9"}', "a/bé"),
        (b'{"te\\u0078t":"a"}', "a"),
        ('{"text":"語🙂e\u0301"}'.encode(), "語🙂e\u0301"),
        (b'{"text":"\\ud83d\\ude42"}', "🙂"),
        (b'{"text":"a","text":"b"}', "b"),
        (b'{"text":5,"text":"b"}', "b"),
        (b'{"x":{"text":"in"},"text":"out"}', "out"),
        (b'{"text":"a","x":NaN,"y":-Infinity}', "a"),
        (b'{"text":"a","x":"\\ud800"}', "a"),
        (b'{"text":"a","x":"\xff"}', "a"),
        (b'{"text":"a","\xff":1}', "a"),
        (b'{"text":"a","x":1e999}', "a"),
        (b'{"text":"a","x":' + b"9" * 6000 + b"}", "a"),
        (b'\xef\xbb\xbf{"text":"a"}', "a"),
    ],
)
def test_documents(line, text):
    assert JsonRecords(ColumnSpec()).read(line) == (text, "", None, None)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b'{"text":"a\xffb"}', "invalid_utf8"),
        (b'{"text":"\xed\xa0\x80"}', "invalid_utf8"),
        (b'{"text":"\xc0\xaf"}', "invalid_utf8"),
        (b"\xff\xfe{\0", "invalid_utf8"),
        (b'{"text":"caf\xe9"', "invalid_utf8"),
        (b'{"text":"\\ud800"}', "lone_surrogate"),
        (b'{"text":"a\\udc00b"}', "lone_surrogate"),
        (b'{"text":"\\ude42\\ud83d"}', "lone_surrogate"),
        (b'{"text":"a"', "invalid_json"),
        (b'{"text":"a', "invalid_json"),
        (b'{"text":"a\\ud8', "invalid_json"),
        (b'{"text":"a"} {"text":"b"}', "invalid_json"),
        (b'{"text":"a"},', "invalid_json"),
        (b'{"text":"a",}', "invalid_json"),
        (b"{'text':'a'}", "invalid_json"),
        (b'{"text":"a\tb"}', "invalid_json"),
        (b'{"text":"a\0b"}', "invalid_json"),
        (b"\0\0\0", "invalid_json"),
        (b"hello", "invalid_json"),
        (b'{"text":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"null", "not_an_object"),
        (b"NaN", "not_an_object"),
        (b"17", "not_an_object"),
        (b'"text"', "not_an_object"),
        (b'[{"text":"a"}]', "not_an_object"),
        (b"{}", "missing_text"),
        (b'{"text":null}', "missing_text"),
        (b'{"Text":"a"}', "missing_text"),
        (b'{"text":17}', "wrong_type"),
        (b'{"text":true}', "wrong_type"),
        (b'{"text":["a"]}', "wrong_type"),
        (b'{"text":{"text":"a"}}', "wrong_type"),
        (b'{"text":"a","text":17}', "wrong_type"),
    ],
)
def test_refused(line, cause):
    found = JsonRecords(ColumnSpec()).read(line)
    assert isinstance(found, Refused)
    assert found.cause == cause
    assert found.detail


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"x"', "x"),
        ('""', ""),
        ("null", ""),
        ("17", "17"),
        ("-3", "-3"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1.5", "1.5"),
        ("true", "true"),
        ('{"a": [1, "語"]}', '{"a":[1,"語"]}'),
    ],
)
def test_ids_become_text_whatever_else_is_on_the_line(value, text):
    reader = JsonRecords(ALL)
    for extra in ("", ',"x":NaN'):
        found = reader.read(f'{{"text":"t","id":{value},"url":{value}{extra}}}'.encode())
        assert found[1] == text
        assert found[2] == (None if value == "null" else text)
    missing = reader.read(b'{"text":"t"}')
    assert missing[1:3] == ("", None)


def test_metadata_is_a_json_object_of_the_wanted_columns_in_their_order():
    reader = JsonRecords(ALL)
    found = reader.read(b'{"score":NaN,"text":"t","meta":{"k":["\\u00e9",1.5]},"other":1}')
    assert found[3] == '{"meta":{"k":["é",1.5]},"score":null}'
    assert reader.read(b'{"text":"t"}')[3] == '{"meta":null,"score":null}'


@pytest.mark.parametrize("column", ["id", "url", "meta"])
def test_wanted_columns_must_be_text_as_well(column):
    reader = JsonRecords(ALL)
    assert reader.read(f'{{"text":"a","{column}":"\\ud800"}}'.encode()).cause == "lone_surrogate"
    bad = b'{"text":"a","' + column.encode() + b'":"\xff"}'
    assert reader.read(bad).cause == "invalid_utf8"


def test_one_column_can_have_several_uses():
    reader = JsonRecords(ColumnSpec("body", "link", "link", ("link", "body")))
    assert reader.read(b'{"link":"u","body":"b"}') == ("b", "u", "u", '{"link":"u","body":"b"}')


def test_a_name_that_json_cannot_have_plainly_is_an_error():
    with pytest.raises(InputError, match="Rename"):
        JsonRecords(ColumnSpec('a"b'))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["text", "id", "url", "meta", "x", "語"]), JSON))
def test_what_python_writes_is_read_as_python_reads_it(record):
    """The standard library is the judge: NaN, nesting and every string included."""
    found = JsonRecords(ALL).read(json.dumps(record).encode())
    expected = json.loads(json.dumps(record), parse_constant=lambda _: None)
    if isinstance(expected.get("text"), str):
        assert found[0] == expected["text"]
        metadata = json.loads(found[3])
        assert metadata["meta"] == expected.get("meta")
        if isinstance(expected.get("id"), str):
            assert found[1] == expected["id"]
    else:
        cause = "missing_text" if expected.get("text") is None else "wrong_type"
        assert found.cause == cause


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda t: t.encode("utf-16")))
def test_any_bytes_are_a_document_or_have_a_cause(line):
    found = JsonRecords(ALL).read(line)
    assert not isinstance(found, Refused) or found.cause in CAUSES


@given(st.integers(0, 200), st.binary(min_size=1, max_size=3))
def test_a_damaged_record_is_a_document_or_has_a_cause(place, damage):
    line = '{"id": 17, "text": "a 語 \\ud83d\\ude42 \\n", "meta": {"k": [1, 2.5, null]}}'.encode()
    place = min(place, len(line))
    found = JsonRecords(ALL).read(line[:place] + damage + line[place + len(damage) :])
    if not isinstance(found, Refused):
        found[0].encode()
