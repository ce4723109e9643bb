"""A file that changes while it is read stops the run: it may have given too few records."""

import os

import pytest

from corpusclean.errors import InputError
from corpusclean.sources.reading import read_split
from corpusclean.sources.splits import plan_splits

LINES = b"".join(b'{"text": "line %d"}\n' % i for i in range(3000))


@pytest.mark.parametrize(
    "change",
    [
        lambda path: os.truncate(path, len(LINES) * 6 // 10),
        lambda path: path.write_bytes(LINES[: len(LINES) // 2] + b"X" * 2000),
        lambda path: path.write_bytes(LINES + LINES),
        lambda path: path.unlink(),
    ],
)
def test_a_file_that_changes_while_it_is_read(tmp_path, change):
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES)
    [split] = plan_splits("s", ["a.jsonl"], tmp_path)
    reading = read_split(split, batch_bytes=1000)
    assert next(reading).batch.num_rows > 0
    change(path)
    with pytest.raises(InputError, match=r"a\.jsonl of source s"):
        list(reading)


def test_a_file_that_stays_is_read_to_its_end(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(LINES)
    [split] = plan_splits("s", ["a.jsonl"], tmp_path)
    assert sum(d.batch.num_rows for d in read_split(split, batch_bytes=1000)) == 3000
