"""Small outputs with known tokens, and what a sample holds by the plain words of the design."""

from bisect import bisect_right
from types import SimpleNamespace

import numpy as np
import pytest

from corpusclean import files
from corpusclean.shards.manifest import (
    ShardEntry,
    SourceTotals,
    build_manifest,
    publish_manifest,
    shard_name,
)
from corpusclean.shards.megatron import MegatronWriter
from corpusclean.shards.provenance import write_provenance

NAMES = ["web", "code"]


def make_output(directory, lengths, sequence_length=8, splits=None, packed=None, seed=17):
    """Publish shards of documents with these lengths, a list a shard; tokens are all different.

    Token t of the whole output has id t. With `packed`, documents are laid end to end and cut
    into sequences of that many tokens. `.documents` has (uid, first token, tokens) of each piece.
    """
    entries, documents, totals = [], [], dict.fromkeys(NAMES, 0)
    token = number = 0
    for place, sizes in enumerate(lengths):
        name = shard_name("demo", place, len(lengths))
        split = splits[place] if splits else "train"
        rows = {k: [] for k in ("uid", "source", "copy", "document_start", "tokens")}
        rows |= {"sequence": [], "start": []}
        total = sum(sizes)
        cuts = range(0, total, packed) if packed else np.cumsum([0, *sizes])[:-1].tolist()
        ends = [*list(cuts)[1:], total]
        at = 0
        for size in sizes:
            uid, begin, stop = (7, number), at, at + size
            documents.append((b"".join(n.to_bytes(8, "big") for n in uid), token + at, size))
            if split == "train":
                totals[NAMES[number % 2]] += size
            while at < stop:
                sequence = bisect_right(cuts, at) - 1
                end = min(stop, ends[sequence])
                values = (uid, number % 2, number % 3, at - begin, end - at)
                for key, value in zip(rows, (*values, sequence, at - cuts[sequence]), strict=True):
                    rows[key].append(value)
                at = end
            number += 1
        with MegatronWriter(directory / "shards" / name, "int32") as writer:
            for cut, end in zip(cuts, ends, strict=True):
                writer.add_document(np.arange(token + cut, token + end))
        arrays = {k: np.array(v, np.uint64 if k == "uid" else np.int64) for k, v in rows.items()}
        path = f"provenance/{name}.parquet"
        info = write_provenance(directory / path, place, sources=NAMES, **arrays)
        entries.append(ShardEntry(f"shards/{name}", split, writer.info, path, info))
        token += total
    files.publish_bytes(directory / "ledger.json", b"{}")
    manifest = build_manifest(
        recipe={"name": "demo", "sha256": "ab" * 32},
        seed=seed,
        tokenizer={
            "name": "tokenizer.json",
            "sha256": "cd" * 32,
            "vocabulary": 70_000,
            "eod": "<|endoftext|>",
            "eod_id": 0,
            "append_eod": True,
        },
        dtype="int32",
        sequence_length=sequence_length,
        budget=token,
        sources={name: SourceTotals(0.5, 1, count, count) for name, count in totals.items()},
        shards=entries,
        ledger_sha256=files.sha256(directory / "ledger.json"),
    )
    publish_manifest(directory, manifest)
    begins = np.cumsum([0, *(sum(sizes) for sizes in lengths)])
    return SimpleNamespace(
        directory=directory, manifest=manifest, documents=documents, begins=begins, tokens=token
    )


@pytest.fixture
def publish(tmp_path):
    """A function that publishes an output folder; see `make_output`."""

    def make(lengths, **options):
        return make_output(tmp_path, lengths, **options)

    return make


@pytest.fixture
def read_tokens():
    """A function from an output and entries of a trace to the token ids of each sample."""
    from corpusclean.shards.megatron import MegatronShard

    def read(output, entries):
        paths = [output.directory / shard["path"] for shard in output.manifest["shards"]]
        shards = [MegatronShard.open(path) for path in paths]
        found = {}
        for entry in entries:
            ids = shards[entry["shard"]][entry["sequence"]][entry["start"] : entry["stop"]]
            found.setdefault(entry["sample"], []).extend(ids.tolist())
        return found

    return read
