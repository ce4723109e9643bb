"""Verification of an output: every published file is read again and checked.

A change of one byte in the manifest, the ledger, a shard or its provenance is found and the file
named. Damage of any kind is a problem in the report, never an exception. Files that may differ
between equal runs (`run.json`, the report, quarantine, parts) are not looked at, nor are hidden
temporary files that a killed run left behind.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from corpusclean import files
from corpusclean.errors import ShardError
from corpusclean.shards.formats import FORMATS
from corpusclean.shards.manifest import (
    CHECKSUM,
    MANIFEST,
    checksum_line,
    files_of,
    index_texts,
    manifest_text,
    share,
)
from corpusclean.shards.manifest_shape import manifest_problems
from corpusclean.shards.problems import Problem, Problems
from corpusclean.shards.verify_provenance import LastPiece, Tallies
from corpusclean.shards.verify_shard import Encoding, ShardCheck

__all__ = ["VerifyReport", "verify_output"]

_LEDGER_COUNTS = ("read", "kept", "emitted", "unused")


@dataclass(frozen=True)
class VerifyReport:
    """`shards` counts those that were checked; `ok` means that there is no problem."""

    ok: bool
    shards: int
    problems: list[Problem]


def verify_output(directory: str | Path) -> VerifyReport:
    """Check an output folder against its manifest."""
    problems = Problems(directory)
    manifest = _manifest(problems)
    if manifest is None:
        return VerifyReport(False, 0, problems.found)
    tallies = Tallies()
    _shards(problems, manifest, tallies)
    _indexes(problems, manifest)
    _sums(problems, manifest)
    if tallies.complete:
        _sources(problems, manifest, tallies)
    ledger = _ledger(problems, manifest)
    if ledger is not None and tallies.complete:
        _emitted(problems, ledger, manifest, tallies)
    _strays(problems, manifest)
    return VerifyReport(not problems.found, len(manifest["shards"]), problems.found)


def _manifest(problems: Problems) -> dict[str, Any] | None:
    """Return the manifest if it has the shape that the other checks rely on."""
    if not files.exists(problems.full(MANIFEST)):
        problems.add(MANIFEST, "missing", "the manifest of a finished run", "none")
        return None
    content = problems.read(MANIFEST, None, None)
    if content is None:
        return None
    line = problems.read(CHECKSUM, None, None)
    expected = checksum_line(content)
    if line is not None and line != expected:
        shown = line.decode("utf-8", "replace").strip()[:90]
        what = f"checksum (sha256), against {CHECKSUM}"
        problems.add(MANIFEST, what, shown, expected.decode().strip())
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        problems.add(MANIFEST, "not JSON", "a JSON document", str(error)[:200])
        return None
    wrong = manifest_problems(manifest)
    for where, kind, found in wrong:
        problems.add(MANIFEST, where, kind, found)
    if wrong:
        return None
    if manifest_text(manifest).encode() != content:
        problems.add(MANIFEST, "text", "the one text of these data", "another")
    checked: dict[str, Any] = manifest
    return checked


def _shards(problems: Problems, manifest: Mapping[str, Any], tallies: Tallies) -> None:
    """Check every shard; a document may go on from one into the next."""
    section = manifest["tokenizer"]
    encoding = Encoding(
        format=FORMATS[manifest["format"]],
        dtype=np.dtype(manifest["dtype"]).newbyteorder("<"),
        vocabulary=section["vocabulary"],
        eod=section["eod_id"] if section["append_eod"] else None,
    )
    last: LastPiece | None = None
    previous: ShardCheck | None = None
    for number, shard in enumerate(manifest["shards"]):
        check = ShardCheck(problems, number, shard, encoding, tallies)
        if previous is not None and previous.shard["split"] != shard["split"]:
            last = None
        continues = check.check(last)
        if previous is not None and previous.opens and not continues:
            _open_end(problems, previous)
        previous, last = check, check.last
    if previous is not None and previous.opens:
        _open_end(problems, previous)


def _open_end(problems: Problems, check: ShardCheck) -> None:
    expected = f"{check.encoding.eod}, the end of document"
    problems.add(check.last_file, "last token of the shard", expected, "another")


def _indexes(problems: Problems, manifest: Mapping[str, Any]) -> None:
    """Check the files that describe all shards of a folder."""
    shards = [(shard["path"], shard["split"], files_of(shard)) for shard in manifest["shards"]]
    try:
        texts = index_texts(manifest["format"], manifest["dtype"], shards)
    except ShardError as error:
        problems.add(MANIFEST, str(error), "-", "-")
        return
    listed = {index["path"]: index for index in manifest["indexes"]}
    problems.unlike(MANIFEST, "indexes", sorted(texts), sorted(listed))
    for path, index in listed.items():
        content = problems.read(path, index["bytes"], index["sha256"])
        if content is not None and path in texts and content != texts[path].encode():
            problems.add(path, "content", "the shards of the manifest", "others")


def _sums(problems: Problems, manifest: Mapping[str, Any]) -> None:
    """Check the manifest's own arithmetic."""
    shards, sources = manifest["shards"], manifest["sources"]
    emitted = sum(s["tokens"] for s in shards if s["split"] == "train")
    problems.unlike(MANIFEST, "tokens.emitted", emitted, manifest["tokens"]["emitted"])
    of_sources = sum(s["tokens_emitted"] for s in sources.values())
    problems.unlike(MANIFEST, "tokens emitted by all sources", emitted, of_sources)
    for name, source in sources.items():
        for field, whole in (("ratio_emitted", emitted), ("epochs", source["tokens_available"])):
            expected = share(source["tokens_emitted"], whole)
            problems.unlike(MANIFEST, f"sources.{name}.{field}", expected, source[field])
    for number, shard in enumerate(shards):
        if shard["tokens"] == 0:
            problems.add(MANIFEST, f"shards[{number}].tokens", "at least 1", 0)
    names = [s["path"] for s in shards] + [s["provenance"]["path"] for s in shards]
    problems.unlike(MANIFEST, "different paths of shards", len(names), len(set(names)))


def _sources(problems: Problems, manifest: Mapping[str, Any], tallies: Tallies) -> None:
    """Compare what the manifest says of each source with the provenance of the training shards."""
    for name, source in manifest["sources"].items():
        for field, counted in (
            ("tokens_emitted", tallies.tokens),
            ("documents", tallies.documents),
        ):
            where = f"sources.{name}.{field}, against provenance"
            problems.unlike(MANIFEST, where, counted[name, "train"], source[field])
    for name in sorted({source for source, _ in tallies.tokens} - manifest["sources"].keys()):
        problems.add(MANIFEST, "source in provenance", "one of the manifest's sources", name)


def _ledger(problems: Problems, manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """Check that the ledger balances; return its sources if it can be read."""
    path = manifest["ledger"]["path"]
    content = problems.read(path, None, manifest["ledger"]["sha256"])
    if content is None:
        return None
    try:
        sources: dict[str, Any] = json.loads(content)["sources"]
        problems.unlike(path, "sources", sorted(manifest["sources"]), sorted(sources))
        for name, entry in sources.items():
            read, kept, emitted, unused = (int(entry[field]) for field in _LEDGER_COUNTS)
            gone = sum(entry["dropped"].values()) + sum(entry["quarantined"].values())
            what = f"{name}: kept + dropped + quarantined = read"
            problems.unlike(path, what, read, kept + gone)
            problems.unlike(path, f"{name}: emitted + unused = kept", kept, emitted + unused)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problems.add(path, "not a ledger", "sources with their counts", repr(error)[:200])
        return None
    return sources


def _emitted(
    problems: Problems, ledger: Mapping[str, Any], manifest: Mapping[str, Any], tallies: Tallies
) -> None:
    """Compare the documents that the ledger calls emitted with provenance, all splits together."""
    for name, entry in ledger.items():
        counted = sum(tallies.documents[name, split] for split in ("train", "validation"))
        what = f"{name}: emitted, against provenance"
        problems.unlike(manifest["ledger"]["path"], what, counted, entry["emitted"])


def _strays(problems: Problems, manifest: Mapping[str, Any]) -> None:
    """Report files among the shards and their provenance that the manifest does not name."""
    named = {s["provenance"]["path"] for s in manifest["shards"]}
    named |= {index["path"] for index in manifest["indexes"]}
    for shard in manifest["shards"]:
        named |= {shard["path"] + file.suffix for file in files_of(shard)}
    folders = {PurePosixPath(path).parent.as_posix() for path in named}
    for folder in sorted(folders | {"shards", "provenance"}):
        for full in files.list_files(files.join(problems.directory, folder)):
            name = full.rpartition("/")[2]
            path = f"{folder}/{name}"
            if path not in named and not (name.startswith(".") and name.endswith(".tmp")):
                problems.add(path, "not in the manifest", "no such file", "a file")
