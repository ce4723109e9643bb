"""What verification reports: one problem a line, with the file it is in."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from corpusclean import files

__all__ = ["Problem", "Problems"]

_BLOCK = 1 << 24


@dataclass(frozen=True)
class Problem:
    """Something in a published file that is not as it must be; `path` is relative to the output."""

    path: str
    problem: str
    expected: str
    found: str


@dataclass
class Problems:
    """Collects problems of an output folder, and reads its files so that damage is one of them."""

    directory: Path | str
    found: list[Problem] = field(default_factory=list)

    def add(self, path: str, problem: str, expected: object, found: object) -> None:
        """Note a problem."""
        self.found.append(Problem(path, problem, str(expected), str(found)))

    def unlike(self, path: str, problem: str, expected: object, found: object) -> bool:
        """Note a problem if two things differ; tell whether they do."""
        if expected == found:
            return False
        self.add(path, problem, expected, found)
        return True

    def full(self, path: str) -> str:
        """Return the whole path of a file of the output."""
        return files.join(self.directory, path)

    def unreadable(self, path: str, error: OSError) -> None:
        """Note that a file is missing or cannot be read."""
        if isinstance(error, FileNotFoundError):
            self.add(path, "missing", "a file", "none")
        else:
            self.add(path, "unreadable", "a readable file", error.strerror or error)

    def read(self, path: str, size: int | None, sha256: str | None) -> bytes | None:
        """Return a file's bytes; None, and a problem, if it is missing or not as described."""
        try:
            content = files.read_bytes(self.full(path))
        except OSError as error:
            self.unreadable(path, error)
            return None
        if size is not None and self.unlike(path, "size in bytes", size, len(content)):
            return None
        if sha256 is not None:
            found = hashlib.sha256(content).hexdigest()
            if self.unlike(path, "checksum (sha256)", sha256, found):
                return None
        return content

    def matches(self, path: str, size: int, sha256: str) -> bool:
        """Tell whether a file, read in blocks, is as described; note a problem if it is not."""
        digest, found = hashlib.sha256(), 0
        try:
            with files.open_read(self.full(path)) as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
                    found += len(block)
        except OSError as error:
            self.unreadable(path, error)
            return False
        if self.unlike(path, "size in bytes", size, found):
            return False
        return not self.unlike(path, "checksum (sha256)", sha256, digest.hexdigest())
