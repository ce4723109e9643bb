"""Receipts: what a step wrote for one task, and from what it came.

A receipt is published after the files it names. A task whose receipt carries the right
fingerprint, and whose files are there in full, need not be done again.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from corpusclean import files
from corpusclean.engine.references import Message

__all__ = ["Receipt", "fingerprint", "load_receipt", "publish_receipt"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The account of one finished task."""

    fingerprint: str
    files: dict[str, int]
    """Paths relative to the work folder, and their bytes."""
    messages: list[Message] = field(default_factory=list)
    """What the task sent on."""
    counts: dict[str, Any] = field(default_factory=dict)
    """Whole numbers in nested dictionaries, to be added up over all tasks."""
    documents: int = 0
    bytes: int = 0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_bytes: int = 0
    host: str = ""
    process: int = 0


def fingerprint(*parts: Any) -> str:
    """Return a hex digest of plain values; equal values give equal digests."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def publish_receipt(path: str, receipt: Receipt) -> None:
    """Publish a receipt; its files must stand already."""
    files.publish_bytes(path, json.dumps(asdict(receipt), indent=1, sort_keys=True).encode())


def load_receipt(path: str, expected: str, work: str) -> Receipt | None:
    """Return the receipt at a path if it is valid for a fingerprint, else None.

    A receipt that cannot be read, has another fingerprint, or names a file that is missing or
    has another size is not valid: the task is done again.
    """
    try:
        loaded = json.loads(files.read_bytes(path))
        receipt = Receipt(**loaded)
    except (OSError, ValueError, TypeError):
        return None
    if receipt.fingerprint != expected:
        return None
    for name, size in receipt.files.items():
        try:
            found, _ = files.size_and_mtime(files.join(work, name))
        except OSError:
            return None
        if found != size:
            return None
    messages = [(step, key, tuple(item)) for step, key, item in receipt.messages]
    return Receipt(**{**loaded, "messages": messages})
