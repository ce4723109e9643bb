"""Kernels over text: buffers in, numbers out. Nothing here knows of documents or recipes.

Compiled kernels are cached on disk. numba notices a change of the file that a kernel stands in,
but not of the files it calls into, so the cache's folder is named after the content of them all.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

import numba


def _cache_folder() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    name = Path("corpusclean", "kernels", digest.hexdigest()[:16])
    for base in (os.environ.get("XDG_CACHE_HOME"), Path.home() / ".cache"):
        if base:
            with contextlib.suppress(OSError):
                folder = Path(base, name)
                folder.mkdir(parents=True, exist_ok=True)
                return str(folder)
    return str(Path(tempfile.gettempdir(), name))


def compiled_before() -> bool:
    """Tell whether there are compiled kernels of this version on this machine."""
    return any(Path(numba.config.CACHE_DIR).rglob("*.nbi"))


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = _cache_folder()
