"""Files wherever they are: found, read, and published so that no half-written one is ever seen.

Every path is a string: a local path, or a URL that fsspec knows (`gs://`, `s3://`, `memory://`).
A local file is published by a temporary file in the same folder, fsync, rename and fsync of the
folder; on an object store by one put under the final name, which is atomic there.
"""

import contextlib
import glob
import hashlib
import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

import fsspec
import xxhash

from corpusclean.errors import InputError

__all__ = [
    "REMAKE",
    "PublishedFile",
    "checksum",
    "exists",
    "expand",
    "is_url",
    "join",
    "list_files",
    "make_folder",
    "open_read",
    "publish_bytes",
    "publishing",
    "read_bytes",
    "remove",
    "remove_unfinished",
    "sha256",
    "size_and_mtime",
]

_BLOCK = 1 << 20

REMAKE = "Remove this file and run the same command again: what is missing is made again."
"""What to do about a damaged part, for messages."""


def is_url(path: str) -> bool:
    """Tell whether a path names a file system other than the local one."""
    return "://" in path


def join(folder: str | Path, *names: str) -> str:
    """Join a folder, local or a URL, and names below it."""
    if is_url(str(folder)):
        return "/".join([str(folder).rstrip("/"), *names])
    return str(Path(folder, *names))


def open_read(path: str | Path) -> IO[bytes]:
    """Open a file for reading bytes; FileNotFoundError where there is none."""
    if is_url(str(path)):
        return cast(IO[bytes], fsspec.open(str(path), "rb").open())
    return Path(path).open("rb")


def read_bytes(path: str | Path) -> bytes:
    """Return the whole content of a file."""
    with open_read(path) as file:
        return file.read()


class PublishedFile:
    """A file being written; after it is closed, its size and checksum are known.

    `bytes` counts what was written; `checksum` is the hex xxh3-128 of it.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._hash = xxhash.xxh3_128()
        self._sha: Any = None
        self.bytes = 0

    def with_sha256(self) -> "PublishedFile":
        """Also compute the SHA-256 of what is written from here on."""
        self._sha = hashlib.sha256()
        return self

    def write(self, data: Any) -> int:
        """Append bytes-like data and return how many bytes it held."""
        view = memoryview(data).cast("B")
        self._raw.write(view)
        self._hash.update(view)
        if self._sha is not None:
            self._sha.update(view)
        self.bytes += view.nbytes
        return view.nbytes

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.bytes

    def flush(self) -> None:
        """Pass what was written on to the file system."""
        self._raw.flush()

    def close(self) -> None:
        """Do nothing: the file is closed when its `publishing` block ends."""

    @property
    def closed(self) -> bool:
        """Tell writers that the file is still open."""
        return False

    @property
    def checksum(self) -> str:
        """The hex xxh3-128 of all bytes written so far."""
        return self._hash.hexdigest()

    @property
    def sha256(self) -> str:
        """The hex SHA-256 of all bytes written since `with_sha256`."""
        return cast(str, self._sha.hexdigest())


@contextlib.contextmanager
def publishing(path: str | Path) -> Iterator[PublishedFile]:
    """Write a file that appears under its name only when the block ends without an error."""
    target = str(path)
    if is_url(target):
        raw = fsspec.open(target, "wb").open()
        try:
            yield PublishedFile(cast(IO[bytes], raw))
        except BaseException:
            discard = getattr(raw, "discard", None)
            if discard is not None:
                discard()
            raise
        raw.close()
        return
    folder = Path(target).parent
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{Path(target).name}.{uuid.uuid4().hex}.tmp"
    try:
        with temporary.open("wb") as file:
            yield PublishedFile(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def publish_bytes(path: str | Path, data: bytes) -> PublishedFile:
    """Publish a file with the given content."""
    with publishing(path) as file:
        file.write(data)
    return file


def _digest(path: str | Path, digest: Any) -> str:
    with open_read(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return cast(str, digest.hexdigest())


def checksum(path: str | Path) -> str:
    """Return the hex xxh3-128 of a file's content."""
    return _digest(path, xxhash.xxh3_128())


def sha256(path: str | Path) -> str:
    """Return the hex SHA-256 of a file's content."""
    return _digest(path, hashlib.sha256())


def exists(path: str | Path) -> bool:
    """Tell whether there is a file or folder at a path."""
    if is_url(str(path)):
        fs, inner = fsspec.core.url_to_fs(str(path))
        return bool(fs.exists(inner))
    return Path(path).exists()


def size_and_mtime(path: str | Path) -> tuple[int, str]:
    """Return a file's size in bytes and a text that changes when the file is replaced."""
    if is_url(str(path)):
        fs, inner = fsspec.core.url_to_fs(str(path))
        info = fs.info(inner)
        stamp = info.get("etag") or info.get("ETag") or info.get("mtime") or info.get("created")
        return int(info["size"]), str(stamp)
    status = Path(path).stat()
    return status.st_size, str(status.st_mtime_ns)


def make_folder(path: str | Path) -> None:
    """Make a folder and those above it; object stores need none."""
    if not is_url(str(path)):
        Path(path).mkdir(parents=True, exist_ok=True)


def remove(path: str | Path) -> None:
    """Remove a file if it is there."""
    if is_url(str(path)):
        fs, inner = fsspec.core.url_to_fs(str(path))
        if fs.exists(inner):
            fs.rm(inner)
        return
    Path(path).unlink(missing_ok=True)


def remove_unfinished(folder: str | Path) -> None:
    """Remove what killed writers left below a local folder: temporary files of `publishing`."""
    if not is_url(str(folder)):
        for path in Path(folder).rglob(".*.tmp"):
            path.unlink(missing_ok=True)


def list_files(folder: str | Path) -> list[str]:
    """Return the paths of the files right below a folder, sorted; none where there is no folder."""
    if is_url(str(folder)):
        fs, inner = fsspec.core.url_to_fs(str(folder))
        if not fs.exists(inner):
            return []
        found = fs.ls(inner, detail=True)
        return sorted(fs.unstrip_protocol(e["name"]) for e in found if e["type"] == "file")
    base = Path(folder)
    if not base.is_dir():
        return []
    return sorted(str(p) for p in base.iterdir() if p.is_file())


def expand(patterns: str | Sequence[str], base: str | Path) -> list[str]:
    """Return the files that patterns match, sorted, each once.

    A relative pattern is relative to `base`. `**` matches folders at any depth. Raises InputError
    for a pattern that matches no file.
    """
    found: set[str] = set()
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        matches = _matches(pattern, base)
        if not matches:
            raise InputError(_nothing_found(pattern, base))
        found.update(matches)
    for name in found:
        if not name.isascii():
            _check_name(name)
    return sorted(found)


def _check_name(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(f"the name of the file {name!r} is not UTF-8; rename it") from None


def _home(path: str) -> str:
    """Put the home folder in the place of a leading `~`."""
    try:
        return str(Path(path).expanduser())
    except RuntimeError as error:
        raise InputError(f"{path}: {error}") from None


def _matches(pattern: str, base: str | Path) -> list[str]:
    pattern = pattern if is_url(pattern) else _home(pattern)
    full = pattern if is_url(pattern) else join(base, pattern)
    if is_url(full):
        fs, inner = fsspec.core.url_to_fs(full)
        names = fs.glob(inner) if glob.has_magic(inner) else [inner] if fs.isfile(inner) else []
        return [fs.unstrip_protocol(str(name)) for name in names]
    full = os.path.normpath(full)
    if Path(full).is_file():
        return [full]
    relative = not Path(pattern).is_absolute()
    # A folder of the recipe may itself hold a bracket: only the user's pattern is a pattern.
    magic = os.path.join(glob.escape(str(base)), pattern) if relative else full
    names = glob.glob(os.path.normpath(magic), recursive=True)
    return [name for name in names if Path(name).is_file()]


def _nothing_found(pattern: str, base: str | Path) -> str:
    message = f"no file matches {pattern!r} (relative to {base})"
    if is_url(pattern) or is_url(str(base)):
        return message
    folder = Path(os.path.normpath(Path(base, _home(pattern))))
    if folder.is_dir():
        message = f"{pattern!r} (relative to {base}) is a folder; name its files, as {pattern}/*"
    while not folder.is_dir():
        folder = folder.parent
    names = sorted(p.name + ("/" if p.is_dir() else "") for p in folder.iterdir())
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"{message}; the nearest folder is {folder}, which holds {shown or 'nothing'}"
