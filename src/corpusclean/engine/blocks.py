"""The data side of the reference shuffle: rows of numbers, sorted by the task that they go to.

A step writes one file of rows for all tasks of a later step, and sends each of them a reference
to its range of rows. Rows are NumPy structured arrays, stored as they are, little-endian.
"""

from collections.abc import Iterator

import numpy as np
import xxhash

from corpusclean import files
from corpusclean.engine.references import Ref
from corpusclean.engine.steps import Output, Workplace
from corpusclean.errors import ShardError

__all__ = ["read_rows", "send_rows"]


def send_rows(
    output: Output,
    place: Workplace,
    name: str,
    step: str,
    rows: np.ndarray,
    targets: list[tuple[str, str]],
    which: np.ndarray,
) -> None:
    """Publish rows as the file `name` and send row i to the target `which[i]` of a step.

    A target is the key of a task and the label that the reference carries. Rows of one target
    keep their order. Nothing is written where there are no rows.
    """
    if len(rows) == 0:
        return
    ordered = np.ascontiguousarray(rows[np.argsort(which, kind="stable")])
    bounds = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=len(targets)))])
    path = f"{place.folder}/{name}"
    output.published(path, files.publish_bytes(place.path(path), ordered.tobytes()))
    for i, (key, label) in enumerate(targets):
        start, stop = int(bounds[i]), int(bounds[i + 1])
        if stop > start:
            checksum = _checksum(ordered[start:stop])
            output.send(step, key, Ref(path, checksum, start, stop, label))


def _checksum(rows: np.ndarray) -> str:
    return xxhash.xxh3_128_hexdigest(rows.tobytes())


def read_rows(place: Workplace, refs: list[Ref], dtype: np.dtype) -> Iterator[np.ndarray]:
    """Yield the rows of each reference, in the order of the references, one open file at a time.

    Raises ShardError if they are not the rows that were sent.
    """
    for ref in refs:
        with files.open_read(place.path(ref.path)) as file:
            file.seek(ref.start * dtype.itemsize)
            data = file.read((ref.stop - ref.start) * dtype.itemsize)
        found = xxhash.xxh3_128_hexdigest(data)
        if found != ref.checksum:
            raise ShardError(
                f"{place.path(ref.path)}: damaged: rows {ref.start} to {ref.stop} have the "
                f"checksum {found}, expected {ref.checksum}. {files.REMAKE}"
            )
        yield np.frombuffer(data, dtype)
