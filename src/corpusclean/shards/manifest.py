"""The manifest: everything a launcher must know about an output, and checksums of all of it.

The manifest names the checksum of every published file: the shards, their provenance, the ledger.
Its own stands beside it in `manifest.json.sha256`, as `sha256sum -c` reads it, because no file can
hold a checksum of all its bytes, and because the manifest's `recipe.sha256` may differ between
outputs that are the same in everything else. The manifest is published last.

How a shard's files are listed depends on the format: of Megatron's two, `bytes` and `sha256` are
those of the .bin, `idx_bytes` and `idx_sha256` those of the .idx. For every other format `bytes` is
the size of all files together, and `files` lists them as {suffix, bytes, sha256}, with `sequences`
where a shard is divided. `indexes` lists files that describe all shards of a folder.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from corpusclean import files
from corpusclean.errors import ShardError
from corpusclean.shards.formats import format_named
from corpusclean.shards.info import ShardFile, ShardInfo
from corpusclean.shards.manifest_shape import SCHEMA, manifest_problems
from corpusclean.shards.provenance import ProvenanceInfo

__all__ = [
    "MANIFEST",
    "ShardEntry",
    "SourceTotals",
    "build_manifest",
    "checksum_line",
    "files_of",
    "index_texts",
    "manifest_text",
    "publish_indexes",
    "publish_manifest",
    "shard_name",
]

MANIFEST = "manifest.json"
CHECKSUM = "manifest.json.sha256"


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
    format: str = "megatron",
    indexes: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the manifest as plain data, its keys in their fixed order.

    `recipe` holds name and sha256; `tokenizer` name, sha256, vocabulary (added tokens included),
    eod (its text), eod_id and append_eod; `indexes` is what `publish_indexes` returned. Raises
    ShardError if the sources do not sum to the training shards, or if what results is not a valid
    manifest.
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
        "format": format,
        "shards": [_shard(entry, format) for entry in shards],
        "indexes": [dict(index) for index in indexes],
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


def _shard(entry: ShardEntry, format: str) -> dict[str, Any]:
    info, provenance = entry.info, entry.provenance
    if format == "megatron":
        described: dict[str, Any] = {
            "bytes": info.bytes,
            "sha256": info.sha256,
            "idx_bytes": info.idx_bytes,
            "idx_sha256": info.idx_sha256,
        }
    else:
        described = {
            "bytes": sum(file.bytes for file in info.files),
            "files": [_file(file) for file in info.files],
        }
    return {
        "path": entry.path,
        "split": entry.split,
        "documents": info.documents,
        "tokens": info.tokens,
        **described,
        "provenance": {
            "path": entry.provenance_path,
            "rows": provenance.rows,
            "bytes": provenance.bytes,
            "sha256": provenance.sha256,
        },
    }


def _file(file: ShardFile) -> dict[str, Any]:
    described = {"suffix": file.suffix, "bytes": file.bytes, "sha256": file.sha256}
    return described if file.sequences is None else described | {"sequences": file.sequences}


def files_of(shard: Mapping[str, Any]) -> tuple[ShardFile, ...]:
    """Return the files of a shard, given its entry in a manifest of any format."""
    if "files" in shard:
        return tuple(ShardFile(**file) for file in shard["files"])
    return (
        ShardFile(".bin", shard["bytes"], shard["sha256"]),
        ShardFile(".idx", shard["idx_bytes"], shard["idx_sha256"]),
    )


def index_texts(
    format: str, dtype: str, shards: Sequence[tuple[str, str, Sequence[ShardFile]]]
) -> dict[str, str]:
    """Return path and text of the indexes of folders, over (path, split, files) of all shards.

    None in most formats. Raises ShardError if shards of both splits are in one folder.
    """
    made = format_named(format)
    if made.index is None or made.index_text is None:
        return {}
    folders: dict[str, list[tuple[str, Sequence[ShardFile]]]] = {}
    splits: dict[str, str] = {}
    for path, split, shard_files in shards:
        folder = PurePosixPath(path).parent.as_posix()
        if splits.setdefault(folder, split) != split:
            raise ShardError(
                f"{folder}: found shards of train and validation, expected a folder for each, "
                f"because in format {format} a folder is one dataset"
            )
        folders.setdefault(folder, []).append((PurePosixPath(path).name, shard_files))
    return {
        (PurePosixPath(folder) / made.index).as_posix(): made.index_text(dtype, named)
        for folder, named in folders.items()
    }


def publish_indexes(
    directory: str | Path, format: str, dtype: str, shards: Sequence[ShardEntry]
) -> list[dict[str, Any]]:
    """Publish what a format needs besides shards, all of which exist; return it as the manifest
    lists it: path, bytes, sha256.
    """
    published = []
    listed = [(entry.path, entry.split, entry.info.files) for entry in shards]
    for path, text in index_texts(format, dtype, listed).items():
        content = text.encode()
        files.publish_bytes(files.join(directory, path), content)
        digest = hashlib.sha256(content).hexdigest()
        published.append({"path": path, "bytes": len(content), "sha256": digest})
    return published


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
