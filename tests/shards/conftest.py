"""An output folder as a run publishes it, small and complete."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from corpusclean import files
from corpusclean.shards.formats import FORMATS
from corpusclean.shards.manifest import (
    ShardEntry,
    SourceTotals,
    build_manifest,
    publish_indexes,
    publish_manifest,
    shard_name,
)
from corpusclean.shards.provenance import write_provenance

EOD = 7
NAMES = ["web", "code"]

# (uid, source, copy, document_start, ids) in the order of the stream, a list for each shard; the
# third document is longer than a shard and goes on from one into the next.
PIECES = [
    [((1, 1), 0, 0, 0, [5, 6, EOD]), ((2, 2), 1, 0, 0, [9, EOD])],
    [((3, 3), 0, 0, 0, [1, 2, 3, 4])],
    [((3, 3), 0, 0, 4, [5, EOD]), ((1, 1), 0, 1, 0, [5, 6, EOD]), ((4, 4), 1, 0, 0, [EOD])],
]


def publish(
    directory,
    shards,
    *,
    dtype="uint16",
    kind="megatron",
    options=None,
    folder="shards",
    provenance=None,
    splits=None,
    change_ledger=None,
    change_manifest=None,
    **tokenizer,
):
    """Publish an output whose checksums are right, whatever else it says."""
    entries, totals = [], {name: [0, 0] for name in NAMES}
    for number, pieces in enumerate(shards):
        name = shard_name("demo", number, len(shards))
        split = splits[number] if splits else "train"
        prefix = f"{folder.format(split=split)}/{name}"
        with FORMATS[kind].writer(directory / prefix, dtype, **(options or {})) as writer:
            for *_, ids in pieces:
                writer.add_document(ids)
        rows = {
            "uid": np.array([p[0] for p in pieces], np.uint64),
            "source": np.array([p[1] for p in pieces]),
            "sources": NAMES,
            "copy": np.array([p[2] for p in pieces], np.int64),
            "document_start": np.array([p[3] for p in pieces], np.int64),
            "tokens": np.array([len(p[4]) for p in pieces], np.int64),
        }
        path = f"provenance/{name}.parquet"
        rows |= (provenance or {}).get(number, {})
        where = rows.pop("shard", number)
        info = write_provenance(directory / path, where, **rows)
        entries.append(ShardEntry(prefix, split, writer.info, path, info))
        for _, source, copy, start, ids in pieces if split == "train" else []:
            totals[NAMES[source]][0] += len(ids)
            totals[NAMES[source]][1] += copy == 0 and start == 0
    ledger = {
        "sources": {
            name: {
                "read": 10,
                "kept": 6,
                "emitted": documents,
                "unused": 6 - documents,
                "dropped": {"gopher_quality.too_few_words": 3},
                "quarantined": {"bad_json": 1},
            }
            for name, (_, documents) in totals.items()
        }
    }
    if change_ledger:
        change_ledger(ledger["sources"])
    files.publish_bytes(directory / "ledger.json", json.dumps(ledger, indent=1).encode())
    manifest = build_manifest(
        recipe={"name": "demo", "sha256": "ab" * 32},
        seed=17,
        tokenizer={
            "name": "tokenizer.json",
            "sha256": "cd" * 32,
            "vocabulary": 50,
            "eod": "<|endoftext|>",
            "eod_id": EOD,
            "append_eod": True,
            **tokenizer,
        },
        dtype=dtype,
        sequence_length=8,
        budget=16,
        sources={n: SourceTotals(0.5, docs, 20, tokens) for n, (tokens, docs) in totals.items()},
        shards=entries,
        ledger_sha256=files.sha256(directory / "ledger.json"),
        format=kind,
        indexes=publish_indexes(directory, kind, dtype, entries),
    )
    if change_manifest:
        change_manifest(manifest)
    publish_manifest(directory, manifest)
    return manifest


@pytest.fixture
def output(tmp_path):
    """A sound output folder: `.directory`, `.manifest`; `.publish(**changes)` writes it anew."""

    def again(shards=PIECES, **changes):
        return publish(tmp_path, shards, **changes)

    return SimpleNamespace(directory=tmp_path, manifest=again(), publish=again)
