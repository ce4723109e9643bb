"""Reading bytes as if they were a file of a corpus."""

import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from corpusclean.sources import ColumnSpec, Decoded, Quarantined, plan_splits, read_split


@dataclass
class Corpus:
    """All that reading yielded, in order."""

    documents: list[dict[str, Any]]
    quarantined: list[Quarantined]
    blank: int

    @property
    def texts(self) -> list[str]:
        return [document["text"] for document in self.documents]

    @property
    def causes(self) -> Counter[str]:
        return Counter(record.cause for record in self.quarantined)

    @property
    def lines(self) -> int:
        return len(self.documents) + len(self.quarantined) + self.blank


def gather(batches: Iterable[Decoded]) -> Corpus:
    found = Corpus([], [], 0)
    for decoded in batches:
        decoded.batch.validate(full=True)
        positions = decoded.position.tolist()
        for position, row in zip(positions, decoded.batch.to_pylist(), strict=True):
            found.documents.append({"position": position, **row})
        found.quarantined += decoded.quarantined
        found.blank += decoded.blank
    return found


@pytest.fixture(scope="session")
def read_file():
    """Return a function that reads a file through all its splits."""

    def read(
        path: Path, columns: ColumnSpec | None = None, target: int = 128 << 20, **options: Any
    ) -> Corpus:
        splits = plan_splits("s", [path.name], path.parent, target)
        columns = columns or ColumnSpec()
        return gather(part for s in splits for part in read_split(s, columns, **options))

    return read


@pytest.fixture(scope="session")
def read_bytes(read_file):
    """Return a function that reads bytes as a file of the given name."""

    def read(name: str, data: bytes, *args: Any, **options: Any) -> Corpus:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_bytes(data)
            return read_file(path, *args, **options)

    return read
