"""What a writer tells about the shard that it wrote, whatever its format."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ShardFile", "ShardInfo"]


@dataclass(frozen=True)
class ShardFile:
    """One file of a shard: the shard's path and `suffix` make its name.

    `sequences` counts those that it holds where a format divides a shard among several files.
    """

    suffix: str
    bytes: int
    sha256: str
    sequences: int | None = None


@dataclass(frozen=True)
class ShardInfo:
    """What was written; the first of `files` holds tokens.

    Files may be given as plain sequences too, as they come back from JSON.
    """

    path: str
    documents: int
    sequences: int
    tokens: int
    files: tuple[ShardFile, ...]

    def __post_init__(self) -> None:
        given: Iterable[ShardFile] = self.files
        whole = tuple(f if isinstance(f, ShardFile) else ShardFile(*f) for f in given)
        object.__setattr__(self, "files", whole)

    @property
    def name(self) -> str:
        """The shard's name without folder."""
        return Path(self.path).name

    @property
    def bytes(self) -> int:
        """The size of the first file."""
        return self.files[0].bytes

    @property
    def sha256(self) -> str:
        """The checksum of the first file."""
        return self.files[0].sha256

    @property
    def idx_bytes(self) -> int:
        """The size of Megatron's index."""
        return self.file(".idx").bytes

    @property
    def idx_sha256(self) -> str:
        """The checksum of Megatron's index."""
        return self.file(".idx").sha256

    def file(self, suffix: str) -> ShardFile:
        """Return the file with a suffix; KeyError if the shard has none."""
        for file in self.files:
            if file.suffix == suffix:
                return file
        raise KeyError(suffix)
