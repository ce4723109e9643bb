"""Reading and decoding: files to batches of documents, with nothing lost on the way.

`plan_splits` finds the pieces of a source, `read_split` yields their documents and what had to be
quarantined, `uids` and `normalise_newlines` give documents their identity and their final text.
"""

from corpusclean.sources.identity import normalise_newlines, uids
from corpusclean.sources.quarantine import quarantine_lines
from corpusclean.sources.reading import (
    ColumnSpec,
    Decoded,
    Quarantined,
    check_columns,
    read_split,
)
from corpusclean.sources.splits import Split, plan_splits

__all__ = [
    "VERSION",
    "ColumnSpec",
    "Decoded",
    "Quarantined",
    "Split",
    "check_columns",
    "normalise_newlines",
    "plan_splits",
    "quarantine_lines",
    "read_split",
    "uids",
]

VERSION = "1"
"""Raised when the same input would be read otherwise."""
