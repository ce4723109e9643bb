"""What a recipe may ask for one day but this version cannot do: refused, never ignored."""

from collections.abc import Mapping
from typing import Any

from corpusclean.recipe.problems import Keys, Problem, shown

__all__ = ["without_later"]

_KEYS: tuple[Keys, ...] = (
    ("perplexity",),
    ("classifiers",),
    ("validation",),
    ("training",),
    ("blocklists", "*", "urls"),
    ("deduplicate", "lines"),
    ("deduplicate", "passages"),
    ("deduplicate", "near", "verify"),
    ("after_cuts", "min_sentences"),
    ("mixture", "temperature"),
    ("mixture", "unimax"),
    ("tokenizer", "sentencepiece"),
    ("tokenizer", "tiktoken"),
    ("tokenizer", "train"),
    ("output", "packing"),
)
_MAPPINGS: tuple[Keys, ...] = (("sources", "*", "input"),)
"""Where a mapping, as {dataset: name, split: train}, will be allowed."""
_VALUES: tuple[tuple[Keys, frozenset[str]], ...] = (
    (("decontaminate", "method"), frozenset({"palm", "llama2", "exact"})),
    (("blocklists", "*", "scope"), frozenset({"paragraph", "sentence", "line"})),
    (("deduplicate", "near", "keep"), frozenset({"newest", "best"})),
    (
        ("output", "format"),
        frozenset({"webdataset", "litdata"}),
    ),
)


def without_later(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return a recipe's data without what this version does not have, and a problem for each.

    A mapping that held nothing else goes with it.
    """
    problems: list[Problem] = []
    for pattern in _KEYS:
        for keys in _matching(data, pattern):
            problems.append(Problem("this version does not have it yet; take it out", keys))
    for pattern in _MAPPINGS:
        for keys in _matching(data, pattern):
            if isinstance(_at(data, keys), Mapping):
                said = "found a mapping, which this version does not have yet; name files"
                problems.append(Problem(said, keys))
    for pattern, values in _VALUES:
        for keys in _matching(data, pattern):
            found = _at(data, keys)
            for value in found if isinstance(found, tuple) else (found,):
                if isinstance(value, str) and value in values:
                    said = f"found {shown(value)}, which this version does not have yet"
                    problems.append(Problem(said, keys))
    pruned = data
    for problem in problems:
        pruned = _without(pruned, problem.keys)
    return dict(pruned), problems


def _at(data: Any, keys: Keys) -> Any:
    for key in keys:
        data = data[key]
    return data


def _matching(data: Any, pattern: Keys, above: Keys = ()) -> list[Keys]:
    """Return the keys of all entries that a pattern matches; `*` stands for any key."""
    if not pattern:
        return [above]
    if not isinstance(data, Mapping):
        return []
    names = list(data) if pattern[0] == "*" else [key for key in data if key == pattern[0]]
    return [keys for name in names for keys in _matching(data[name], pattern[1:], (*above, name))]


def _without(data: Any, keys: Keys) -> Any:
    """Return nested mappings without an entry, and without those that it leaves empty."""
    name, below = keys[0], keys[1:]
    if not isinstance(data, Mapping) or name not in data:
        return data
    inner = _without(data[name], below) if below else {}
    if inner == {}:
        return {key: value for key, value in data.items() if key != name}
    return {**data, name: inner}
