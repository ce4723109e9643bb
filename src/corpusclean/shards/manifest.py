"""The manifest: everything a launcher must know about an output, and checksums of all of it.

The manifest names the checksum of every published file: the shards, their provenance, the ledger.
Its own stands beside it in `manifest.json.sha256`, as `sha256sum -c` reads it, because no file can
hold a checksum of all its bytes, and because the manifest's `recipe.sha256` may differ between
outputs that are the same in everything else. The manifest is published last.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from corpusclean import files
from corpusclean.errors import ShardError
from corpusclean.shards.megatron import ShardInfo
from corpusclean.shards.provenance import ProvenanceInfo

__all__ = [
    "MANIFEST",
    "SCHEMA",
    "ShardEntry",
    "SourceTotals",
    "build_manifest",
    "checksum_line",
    "manifest_problems",
    "manifest_text",
    "publish_manifest",
    "shard_name",
]

SCHEMA = 1
"""The `version` of the manifest's shape."""

MANIFEST = "manifest.json"
CHECKSUM = "manifest.json.sha256"
SPLITS = ("train", "validation")


@dataclass(frozen=True)
class SourceTotals:
    """What training takes of a source.

    `documents` counts those that are emitted at least once, `tokens_available` the tokens of one
    copy of every kept document, `tokens_emitted` those of all copies.
    """

    ratio_target: float
    documents: int
    tokens_available: int
    tokens_emitted: int


@dataclass(frozen=True)
class ShardEntry:
    """A shard and its provenance, with paths relative to the output folder; no ending for `path`.

    `split` is train or validation.
    """

    path: str
    split: str
    info: ShardInfo
    provenance_path: str
    provenance: ProvenanceInfo


def shard_name(name: str, number: int, count: int) -> str:
    """Return a shard's file name without ending: NAME-00000-of-00012."""
    return f"{name}-{number:05d}-of-{count:05d}"


def build_manifest(
    *,
    recipe: Mapping[str, str],
    seed: int,
    tokenizer: Mapping[str, Any],
    dtype: str,
    sequence_length: int,
    budget: int,
    sources: Mapping[str, SourceTotals],
    shards: Sequence[ShardEntry],
    ledger_sha256: str,
    training: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the manifest as plain data, its keys in their fixed order.

    `recipe` holds name and sha256; `tokenizer` name, sha256, vocabulary (added tokens included),
    eod (its text), eod_id and append_eod. Raises ShardError if the sources do not sum to the
    training shards, or if what results is not a valid manifest.
    """
    emitted = sum(shard.info.tokens for shard in shards if shard.split == "train")
    of_sources = sum(totals.tokens_emitted for totals in sources.values())
    if emitted != of_sources:
        raise ShardError(
            f"manifest: the training shards hold {emitted:,} tokens, the sources emitted "
            f"{of_sources:,}"
        )
    manifest = {
        "version": SCHEMA,
        "recipe": {"name": recipe["name"], "sha256": recipe["sha256"]},
        "seed": seed,
        "tokenizer": dict(tokenizer),
        "dtype": dtype,
        "sequence_length": sequence_length,
        "tokens": {"budget": budget, "emitted": emitted},
        "sources": {name: _source(totals, emitted) for name, totals in sources.items()},
        "shards": [_shard(entry) for entry in shards],
        "ledger": {"path": "ledger.json", "sha256": ledger_sha256},
        "training": None if training is None else dict(training),
    }
    problems = manifest_problems(manifest)
    if problems:
        where, expected, found = problems[0]
        raise ShardError(f"manifest: {where}: found {found}, expected {expected}")
    return manifest


def _source(totals: SourceTotals, emitted: int) -> dict[str, Any]:
    return {
        "ratio_target": totals.ratio_target,
        "ratio_emitted": share(totals.tokens_emitted, emitted),
        "documents": totals.documents,
        "tokens_available": totals.tokens_available,
        "tokens_emitted": totals.tokens_emitted,
        "epochs": share(totals.tokens_emitted, totals.tokens_available),
    }


def share(part: int, whole: int) -> float:
    """Return part / whole, 0 of nothing."""
    return part / whole if whole else 0.0


def _shard(entry: ShardEntry) -> dict[str, Any]:
    info, provenance = entry.info, entry.provenance
    return {
        "path": entry.path,
        "split": entry.split,
        "documents": info.documents,
        "tokens": info.tokens,
        "bytes": info.bytes,
        "sha256": info.sha256,
        "idx_bytes": info.idx_bytes,
        "idx_sha256": info.idx_sha256,
        "provenance": {
            "path": entry.provenance_path,
            "rows": provenance.rows,
            "bytes": provenance.bytes,
            "sha256": provenance.sha256,
        },
    }


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Return the one text of a manifest: the same data give the same text."""
    return json.dumps(manifest, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def checksum_line(content: bytes) -> bytes:
    """Return what `manifest.json.sha256` holds for a manifest's bytes."""
    return f"{hashlib.sha256(content).hexdigest()}  {MANIFEST}\n".encode()


def publish_manifest(directory: str | Path, manifest: Mapping[str, Any]) -> None:
    """Publish a manifest's checksum and then, last of all, the manifest."""
    content = manifest_text(manifest).encode()
    files.publish_bytes(files.join(directory, CHECKSUM), checksum_line(content))
    files.publish_bytes(files.join(directory, MANIFEST), content)


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
    "dtype": "a type of ids",
    "sequence_length": _COUNT,
    "tokens": _MAP,
    "tokens.budget": _COUNT,
    "tokens.emitted": _COUNT,
    "sources": _MAP,
    "shards": _LIST,
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
    "sha256": _SHA256,
    "idx_bytes": _COUNT,
    "idx_sha256": _SHA256,
    "provenance": _MAP,
    "provenance.path": _PATH,
    "provenance.rows": _COUNT,
    "provenance.bytes": _COUNT,
    "provenance.sha256": _SHA256,
}


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
    for number, shard in enumerate(manifest["shards"]):
        problems += _problems(f"shards[{number}]", shard, _SHARD_FIELDS)
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
    if kind == "a type of ids":
        return value in ("uint16", "int32")
    types = {_TEXT: str, _FLAG: bool, _MAP: dict, _LIST: list}
    return isinstance(value, types[kind])


def _is_relative(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and parts[0] != "/" and ".." not in parts and "\\" not in path
