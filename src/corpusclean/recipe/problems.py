"""What is wrong with a recipe or a rule set: where it stands, and how it is said."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from corpusclean.errors import RecipeError

__all__ = ["Keys", "Problem", "RecipeProblems", "dotted", "expected_one_of", "shown"]

Keys = tuple[str | int, ...]
"""The way to an entry: keys of mappings and 0-based places in lists."""

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_./-]+")
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: in a file, on a line (from 1), at an entry."""

    message: str
    keys: Keys = ()
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """Return `file:line: key: message`, as far as each is known."""
        place = self.file or ""
        if self.file and self.line:
            place += f":{self.line}"
        parts = [place, dotted(self.keys), self.message]
        return ": ".join(part for part in parts if part)


class RecipeProblems(RecipeError):
    """Everything that was found wrong, at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems]
        count = f"{len(lines)} problems:\n" if len(lines) > 1 else ""
        super().__init__(count + "\n".join(lines))

    def below(self, keys: Keys) -> list[Problem]:
        """Return the problems as seen from an entry above; those in files stay as they are."""
        return [p if p.file else replace(p, keys=(*keys, *p.keys)) for p in self.problems]


def dotted(keys: Keys) -> str:
    """Return keys as they are written in messages: `sources.web.filters[2]`."""
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            plain = key if _PLAIN_KEY.fullmatch(key) else shown(key)
            text += f".{plain}" if text else plain
    return text


def shown(value: Any) -> str:
    """Return what was found, in a few words."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def expected_one_of(name: str, names: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the known ones, or those most like it."""
    known = list(names)
    near = get_close_matches(name, known, n=1)
    few = ", ".join(known) if known else "none"
    if len(known) > 20:
        closest = get_close_matches(name, known, n=5, cutoff=0.3)
        few = f"one of {len(known)} names" + (f", such as {', '.join(closest)}" if closest else "")
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"expected {'one of ' if len(known) in range(2, 21) else ''}{few}{hint}"
