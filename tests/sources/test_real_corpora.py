"""Real corpora, read to the last line; the standard library is the judge."""

import io
import json

import pytest
import zstandard

from corpusclean.sources import ColumnSpec

NAMES = [
    "corpus/developers-reference.jsonl.zst",
    "corpus/fortunes-zh.jsonl.zst",
    "corpus/libreoffice-help-ja.jsonl.zst",
    "corpus/manpages-uk.jsonl.zst",
    "benchmarks/mbpp.jsonl.zst",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_read_as_the_standard_library_reads_it(real_data, read_file, name):
    path = real_data(name)
    with path.open("rb") as file:
        content = zstandard.ZstdDecompressor().stream_reader(file).read()
    lines = [json.loads(line) for line in io.BytesIO(content)]
    found = read_file(path, ColumnSpec(id="id", url="url", metadata=("lang",)))
    assert found.quarantined == [] and found.blank == 0
    assert len(found.documents) == len(lines)
    for document, line in zip(found.documents, lines, strict=True):
        assert document["text"] == line["text"]
        assert document["id"] == str(line["id"])
        assert document["url"] == line.get("url")
        assert json.loads(document["metadata"])["lang"] == line.get("lang")


def test_a_real_file_unpacked_and_cut_is_the_same(real_data, read_file, read_bytes):
    path = real_data("corpus/fortunes-zh.jsonl.zst")
    with path.open("rb") as file:
        content = zstandard.ZstdDecompressor().stream_reader(file).read()
    columns = ColumnSpec(id="id")
    assert read_bytes("a.jsonl", content, columns, 100_000, batch_bytes=9999) == read_file(
        path, columns
    )
