"""YAML read as plain data that knows its lines.

The language is YAML 1.2 with its core schema: `no` is a text, `010` is ten, a date is a text.
What a recipe does not need is refused: anchors, aliases, tags, several documents in a file, keys
that are given twice or are no plain values, and nesting deeper than a recipe can be.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from corpusclean import files
from corpusclean.recipe.problems import Keys, Problem, RecipeProblems

__all__ = ["Document", "parse_yaml", "read_yaml"]

_DEEPEST = 20
_LARGEST = 4 << 20
_NULLS = {"", "~", "null", "Null", "NULL"}
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_BASED = re.compile(r"0o[0-7]{1,100}|0x[0-9a-fA-F]{1,100}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_ENDLESS = re.compile(r"([-+]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file: its data (mappings, tuples, scalars), and the line of each entry, from 1."""

    path: str
    data: Any
    lines: Mapping[Keys, int]

    def line(self, keys: Keys) -> int:
        """Return the line of an entry, or of the nearest one above it that exists."""
        while keys not in self.lines:
            keys = keys[:-1]
        return self.lines[keys]

    def locate(self, problem: Problem) -> Problem:
        """Return a problem with file and line, unless it has them already."""
        if problem.file:
            return problem
        return Problem(problem.message, problem.keys, self.path, self.line(problem.keys))


def read_yaml(path: str) -> Document:
    """Read a YAML file; RecipeProblems for one that is not there or not as it should be."""
    try:
        content = files.read_bytes(path)
    except FileNotFoundError:
        raise RecipeProblems([Problem("no such file", file=path)]) from None
    except (OSError, ValueError, ImportError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RecipeProblems([Problem(f"cannot be read: {reason}", file=path)]) from None
    return parse_yaml(content, path)


def parse_yaml(content: bytes, path: str) -> Document:
    """Read YAML from bytes; `path` is for messages."""
    if len(content) > _LARGEST:
        found = f"found {len(content):,} bytes, expected a YAML file of at most {_LARGEST:,}"
        raise RecipeProblems([Problem(found, file=path)])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"found the byte 0x{content[error.start]:02x}, expected UTF-8"
        raise RecipeProblems([Problem(found, file=path, line=line)]) from None
    composer = _Composer(path)
    try:
        data = composer.compose(text)
    except MarkedYAMLError as error:
        raise RecipeProblems([_syntax_problem(error, path, text)]) from None
    except (YAMLError, ValueError, OverflowError) as error:
        raise RecipeProblems([_character_problem(error, path, text)]) from None
    if composer.problems:
        raise RecipeProblems(composer.problems)
    return Document(path, data, composer.lines)


class _Composer:
    """Builds data from the parser's events, and notes lines and problems on the way."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: dict[Keys, int] = {(): 1}
        self.problems: list[Problem] = []
        self.events: Iterator[Event] = iter(())

    def compose(self, text: str) -> Any:
        """Return the data of the only document; None where there is none."""
        self.events = iter(YAML(typ="safe", pure=True).parse(text))
        data, documents = None, 0
        for event in self.events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._note("a second document begins here; expected one in a file", (), event)
            elif not isinstance(event, DocumentEndEvent | StreamEndEvent) and documents == 1:
                data = self._value(event, ())
        return data

    def _note(self, message: str, keys: Keys, event: Event) -> None:
        line = event.start_mark.line + 1
        self.problems.append(Problem(message, keys, self.path, line))

    def _value(self, event: Any, keys: Keys) -> Any:
        self.lines.setdefault(keys, event.start_mark.line + 1)
        if len(keys) > _DEEPEST:
            raise RecipeProblems(
                [Problem("nested too deep", keys[:4], self.path, event.start_mark.line + 1)]
            )
        if isinstance(event, AliasEvent):
            self._note(f"found the alias *{event.anchor}; write the value out", keys, event)
            return None
        if event.anchor is not None:
            self._note(f"found the anchor &{event.anchor}; expected none", keys, event)
        if event.tag is not None:
            self._note(f"found the tag {event.tag}; expected none", keys, event)
        if isinstance(event, ScalarEvent):
            return event.value if event.style else _plain(event.value)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(keys)
        assert isinstance(event, MappingStartEvent)
        return self._mapping(keys)

    def _sequence(self, keys: Keys) -> tuple[Any, ...]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            items.append(self._value(event, (*keys, len(items))))
        return tuple(items)

    def _mapping(self, keys: Keys) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            name = self._key(event, keys)
            inner = (*keys, name)
            line = event.start_mark.line + 1
            if name in mapping:
                first = self.lines[inner]
                self._note(f"given twice, first on line {first}; keep one", inner, event)
                self._value(next(self.events), inner)
                continue
            self.lines[inner] = line
            mapping[name] = self._value(next(self.events), inner)
        return mapping

    def _key(self, event: Event, keys: Keys) -> str:
        if isinstance(event, ScalarEvent):
            if event.anchor is not None or event.tag is not None:
                self._note("found an anchor or a tag before a key; expected none", keys, event)
            return str(event.value)
        self._note("found a key that is no plain text", keys, event)
        self._value(event, (*keys, "?"))
        return "?"


def _plain(text: str) -> Any:
    """Return the value of a plain scalar in YAML 1.2's core schema."""
    if text in _NULLS:
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.fullmatch(text):
        return float(text)
    if endless := _ENDLESS.fullmatch(text):
        return float("nan") if endless[3] else float(f"{endless[1]}inf")
    return text


def _syntax_problem(error: MarkedYAMLError, path: str, text: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    found = " ".join((error.problem or str(error)).split())
    if "'\\t'" in found or (line and _indented_by_tab(text, line)):
        return Problem("found a tab; YAML is indented with spaces alone", (), path, line)
    context = f" ({' '.join(error.context.split())})" if error.context else ""
    return Problem(f"not YAML: {found}{context}", (), path, line)


def _indented_by_tab(text: str, line: int) -> bool:
    lines = text.splitlines()
    if line > len(lines):
        return False
    indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
    return "\t" in indent


def _character_problem(error: Exception, path: str, text: str) -> Problem:
    position = getattr(error, "position", None)
    character = getattr(error, "character", None)
    if isinstance(position, int) and character is not None:
        code = ord(character) if isinstance(character, str) else character
        line = text.count("\n", 0, position) + 1
        return Problem(f"found the character U+{code:04X}, which YAML forbids", (), path, line)
    return Problem(f"not YAML: {' '.join(str(error).split())}", (), path)
