"""Records that could not be read, as lines of JSON for whoever mends the input.

| key | what |
|---|---|
| file, position | where it stood: lines or rows from 1 |
| cause, detail | why it could not be read, for programs and for people |
| bytes, length | the record's first 4 KB in base64, and its whole length in bytes |
"""

import base64
from collections.abc import Iterable

import msgspec

from corpusclean.sources.records import Quarantined

__all__ = ["quarantine_lines"]


def quarantine_lines(path: str, records: Iterable[Quarantined]) -> list[bytes]:
    """Return a line of JSON, with its LF, for each quarantined record of the file at `path`."""
    return [
        msgspec.json.encode(
            {
                "file": path,
                "position": record.position,
                "cause": record.cause,
                "detail": record.detail.encode("utf-8", "replace").decode(),
                "length": record.length,
                "bytes": base64.b64encode(record.raw).decode(),
            }
        )
        + b"\n"
        for record in records
    ]
