"""The shape of a manifest: which keys it has, and what kind of value each of them holds."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from corpusclean.shards.formats import FORMATS

__all__ = ["SCHEMA", "manifest_problems"]

SCHEMA = 1
"""The `version` of the manifest's shape."""

SPLITS = ("train", "validation")

_COUNT, _NUMBER, _TEXT = "a count", "a number", "a text"
_SHA256, _PATH, _FLAG, _MAP, _LIST = "64 hex digits", "a relative path", "a flag", "a map", "a list"
_FIELDS = {
    "recipe": _MAP,
    "recipe.name": _TEXT,
    "recipe.sha256": _SHA256,
    "seed": "an integer",
    "tokenizer": _MAP,
    "tokenizer.name": _TEXT,
    "tokenizer.sha256": _SHA256,
    "tokenizer.vocabulary": _COUNT,
    "tokenizer.append_eod": _FLAG,
    "dtype": _TEXT,
    "sequence_length": _COUNT,
    "tokens": _MAP,
    "tokens.budget": _COUNT,
    "tokens.emitted": _COUNT,
    "sources": _MAP,
    "format": "a format",
    "shards": _LIST,
    "indexes": _LIST,
    "ledger": _MAP,
    "ledger.path": _PATH,
    "ledger.sha256": _SHA256,
}
_SOURCE_FIELDS = {
    "ratio_target": _NUMBER,
    "ratio_emitted": _NUMBER,
    "documents": _COUNT,
    "tokens_available": _COUNT,
    "tokens_emitted": _COUNT,
    "epochs": _NUMBER,
}
_SHARD_FIELDS = {
    "path": _PATH,
    "split": "train or validation",
    "documents": _COUNT,
    "tokens": _COUNT,
    "bytes": _COUNT,
    "provenance": _MAP,
    "provenance.path": _PATH,
    "provenance.rows": _COUNT,
    "provenance.bytes": _COUNT,
    "provenance.sha256": _SHA256,
}
_MEGATRON_FIELDS = {"sha256": _SHA256, "idx_bytes": _COUNT, "idx_sha256": _SHA256}
_FILE_FIELDS = {"suffix": _TEXT, "bytes": _COUNT, "sha256": _SHA256}
_INDEX_FIELDS = {"path": _PATH, "bytes": _COUNT, "sha256": _SHA256}


def manifest_problems(manifest: Any) -> list[tuple[str, str, str]]:
    """Return (where, expected, found) of everything in a manifest that has not the right shape."""
    if not isinstance(manifest, dict):
        return [("manifest", _MAP, type(manifest).__name__)]
    if manifest.get("version") != SCHEMA:
        return [("version", str(SCHEMA), repr(manifest.get("version")))]
    problems = _problems("", manifest, _FIELDS)
    if problems:
        return problems
    if manifest["tokenizer"]["append_eod"]:
        problems += _problems("", manifest, {"tokenizer.eod_id": _COUNT})
    for name, source in manifest["sources"].items():
        problems += _problems(f"sources.{name}", source, _SOURCE_FIELDS)
    types = FORMATS[manifest["format"]].writer.types
    if manifest["dtype"] not in types:
        problems.append(("dtype", " or ".join(types), manifest["dtype"]))
    for number, shard in enumerate(manifest["shards"]):
        where = f"shards[{number}]"
        problems += _problems(where, shard, _SHARD_FIELDS)
        if isinstance(shard, dict):
            problems += _file_problems(where, shard, manifest["format"])
    for number, index in enumerate(manifest["indexes"]):
        problems += _problems(f"indexes[{number}]", index, _INDEX_FIELDS)
    return problems


def _file_problems(where: str, shard: dict[str, Any], format: str) -> list[tuple[str, str, str]]:
    """Return what is wrong with the files that a shard lists."""
    if format == "megatron":
        extra = [(f"{where}.files", "none", "some")] if "files" in shard else []
        return _problems(where, shard, _MEGATRON_FIELDS) + extra
    problems = _problems(where, shard, {"files": _LIST})
    if problems:
        return problems
    divided = "*" in FORMATS[format].suffixes[0]
    fields = _FILE_FIELDS | ({"sequences": _COUNT} if divided else {})
    for number, file in enumerate(shard["files"]):
        problems += _problems(f"{where}.files[{number}]", file, fields)
        if isinstance(file, dict) and file.keys() - fields.keys():
            problems.append((f"{where}.files[{number}]", f"keys {list(fields)}", f"{list(file)}"))
    if problems:
        return problems
    suffixes = [file["suffix"] for file in shard["files"]]
    if not suffixes or not FORMATS[format].fits(suffixes):
        expected = ", ".join(FORMATS[format].suffixes)
        problems.append((f"{where}.files", expected, f"{suffixes!r:.80}"))
    total = sum(file["bytes"] for file in shard["files"])
    if shard.get("bytes") != total:
        problems.append((f"{where}.bytes", f"{total}, of all files", str(shard.get("bytes"))))
    return problems


def _problems(where: str, value: Any, fields: Mapping[str, str]) -> list[tuple[str, str, str]]:
    problems = []
    for field, kind in fields.items():
        inner = value
        for key in field.split("."):
            inner = inner.get(key) if isinstance(inner, dict) else None
        if not _is(inner, kind):
            place = f"{where}.{field}" if where else field
            problems.append((place, kind, f"{inner!r:.80}"))
    return problems


def _is(value: Any, kind: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    text = isinstance(value, str)
    if kind == _COUNT:
        return number and isinstance(value, int) and value >= 0
    if kind == "an integer":
        return number and isinstance(value, int)
    if kind == _NUMBER:
        return number and 0 <= value < float("inf")
    if kind == _SHA256:
        return text and len(value) == 64 and set(value) <= set("0123456789abcdef")
    if kind == _PATH:
        return text and _is_relative(value)
    if kind == "train or validation":
        return value in SPLITS
    if kind == "a format":
        return text and value in FORMATS
    types = {_TEXT: str, _FLAG: bool, _MAP: dict, _LIST: list}
    return isinstance(value, types[kind])


def _is_relative(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and parts[0] != "/" and ".." not in parts and "\\" not in path
