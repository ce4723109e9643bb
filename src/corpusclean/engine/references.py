"""What travels through a pipeline: keys and references, never documents.

A reference names a file that a step has published below the work folder, or a range of its rows.
A task is a key with all that was sent to it. Both are tuples of texts and integers, so that every
runner encodes them alike and small.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["OUTPUT", "Message", "Ref", "Task"]

OUTPUT = "output"
"""The name to which a stage's last steps send what the stage leaves."""


class Ref(NamedTuple):
    """A file below the work folder, or the rows [start, stop) of it."""

    path: str
    """Relative to the work folder."""
    checksum: str
    """The hex xxh3-128 of what is referred to: the whole file, or the rows."""
    start: int = 0
    stop: int = -1
    """Half-open; -1 means the end of the file."""
    label: str = ""
    """What the sender says of it: the part that the rows are about."""


Message = tuple[str, str, tuple[Any, ...]]
"""The step that something is sent to, the key of its task there, and what is sent.

What is sent is a reference or the fields of a split.
"""


class Task(NamedTuple):
    """A piece of work: its key, and what was sent to it in sorted order."""

    key: str
    inputs: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, key: str, inputs: Iterable[tuple[Any, ...]]) -> "Task":
        """Make a task whose inputs do not depend on the order of their arrival."""
        return cls(key, tuple(sorted(tuple(item) for item in inputs)))

    def references(self, prefix: str) -> list[Ref]:
        """Return the inputs that lie below a folder of the work folder, in sorted order."""
        return [Ref(*item) for item in self.inputs if str(item[0]).startswith(prefix + "/")]
