"""Reading an output again and reporting what is not as the manifest says."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from corpusclean.cli.tables import table
from corpusclean.errors import RecipeError
from corpusclean.files import is_url
from corpusclean.shards.verify import verify_output

__all__ = ["show", "verify_directory"]

_LONGEST = 60


def verify_directory(directory: str | Path) -> dict[str, Any]:
    """Return `{"ok", "shards", "problems": [{"path", "problem", "expected", "found"}]}`.

    Raises RecipeError if there is no such folder.
    """
    if not is_url(str(directory)) and not Path(directory).is_dir():
        raise RecipeError(f"{directory}: found no folder, expected the output folder of a run")
    return asdict(verify_output(directory))


def show(result: dict[str, Any]) -> str:
    """Return a report as text."""
    if result["ok"]:
        return f"{result['shards']} shards verified: every checksum, length, id and count is right"
    names = ("path", "problem", "expected", "found")
    rows = [[_cut(problem[name]) for name in names] for problem in result["problems"]]
    count = len(rows)
    return f"{count} problem{'s' if count > 1 else ''}\n" + table(["file", *names[1:]], rows)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
