"""Trace and skip over an output whose measured parts are still there."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusclean import files
from corpusclean.cli import skip, trace
from corpusclean.errors import RecipeError
from corpusclean.shards.manifest import ShardEntry, SourceTotals, build_manifest, publish_manifest
from corpusclean.shards.megatron import MegatronWriter
from corpusclean.shards.provenance import write_provenance

COUNT, TOKENS, LENGTH = 400, 16, 32
GARBAGE = range(160, 176)
"""Places, in the order of the stream, of planted garbage: steps 21 and 22 of batches of four."""


def uid_of(place):
    return (place * 2654435761 % 2**32).to_bytes(4, "big") + place.to_bytes(12, "big")


@pytest.fixture
def output(tmp_path):
    """One shard of documents of one length, measured in two parts, with garbage in the middle."""
    uids = [uid_of(place) for place in range(COUNT)]
    halves = np.frombuffer(b"".join(uids), ">u8").astype(np.uint64).reshape(-1, 2)
    sources = np.array([int(place in GARBAGE or place % 4 == 0) for place in range(COUNT)])
    with MegatronWriter(tmp_path / "shards" / "demo", "uint16") as writer:
        writer.add_documents(np.arange(COUNT * TOKENS) % 5000, np.full(COUNT, TOKENS))
    zeros = np.zeros(COUNT, np.int64)
    info = write_provenance(
        tmp_path / "provenance" / "demo.parquet",
        0,
        uid=halves,
        source=sources,
        sources=["web", "code"],
        copy=zeros,
        document_start=zeros,
        tokens=np.full(COUNT, TOKENS),
    )
    write_parts(tmp_path, uids, sources)
    ledger = {"sources": {"web": {"kept": COUNT}}}
    files.publish_bytes(tmp_path / "ledger.json", json.dumps(ledger).encode())
    tokens = {"web": int((sources == 0).sum()) * TOKENS, "code": int(sources.sum()) * TOKENS}
    manifest = build_manifest(
        recipe={"name": "demo", "sha256": "ab" * 32},
        seed=1,
        tokenizer={"name": "t", "sha256": "cd" * 32, "vocabulary": 5000, "append_eod": False},
        dtype="uint16",
        sequence_length=LENGTH,
        budget=COUNT * TOKENS,
        sources={name: SourceTotals(0.5, 1, count, count) for name, count in tokens.items()},
        shards=[ShardEntry("shards/demo", "train", writer.info, "provenance/demo.parquet", info)],
        ledger_sha256=files.sha256(tmp_path / "ledger.json"),
    )
    publish_manifest(tmp_path, manifest)
    return tmp_path


def write_parts(directory, uids, sources):
    outputs = []
    for name, places in (("a", range(0, COUNT, 2)), ("b", range(1, COUNT, 2))):
        folder = directory / "work" / "measure" / "parts" / name
        folder.mkdir(parents=True)
        families = {
            "text": {
                "uid": pa.array([uids[p] for p in places], pa.binary(16)),
                "id": [f"doc-{p}" for p in places],
                "url": [None for _ in places],
                "text": [f"Text  of\n{p}. " + "more " * 99 for p in places],
            },
            "signals": {
                "words": [100 + p % 5 for p in places],
                "hash_word_ratio": [0.9 if p in GARBAGE else 0.01 * (p % 3) for p in places],
                "undefined": pa.array([None for _ in places], pa.float64()),
            },
            "language": {
                "language": ["unknown" if p in GARBAGE else "en" for p in places],
                "language_probability": pa.array([0.9 for _ in places], pa.float32()),
            },
        }
        for family, columns in families.items():
            pq.write_table(pa.table(columns), folder / f"{family}.parquet", row_group_size=60)
            outputs.append([name, [f"measure/parts/{name}/{family}.parquet", "", 0, 0, ""]])
        verdicts = directory / "work" / "select" / "verdicts"
        verdicts.mkdir(parents=True, exist_ok=True)
        kept = {"kept": [True for _ in places], "cluster_size": [1 for _ in places]}
        pq.write_table(pa.table(kept), verdicts / f"{name}.parquet")
    stage = {"outputs": outputs, "account": {}}
    (directory / "work" / "measure" / "stage.json").write_text(json.dumps(stage))


def test_entries_have_ids_from_the_measured_parts(output):
    found = trace.trace_run(output, step="2-3", global_batch=2, skipped="3")
    assert [(e["step"], e["id"], e["start"], e["stop"]) for e in found[:4]] == [
        (2, "doc-4", 0, 16),
        (2, "doc-5", 0, 16),
        (2, "doc-6", 0, 1),
        (2, "doc-6", 0, 16),
    ]
    assert {e["step"] for e in found if e["skipped"]} == {3}
    assert "doc-4" in trace.show(found)
    assert "skipped: steps 3" in trace.show(found)


def test_details(output):
    (entry, *_) = found = trace.trace_run(output, sample="0", global_batch=2, details=True)
    assert entry["excerpt"].startswith("Text of 0. more more")
    assert (entry["url"], entry["signals"]["words"]) == (None, 100)
    assert "Text of 0. more" in trace.show(found)


def test_the_steps_of_a_document(output):
    found = trace.trace_run(output, document=uid_of(6).hex(), global_batch=1)
    assert [(e["step"], e["sample"], e["start"], e["stop"]) for e in found] == [
        (3, 2, 0, 1),
        (4, 3, 0, 16),
    ]


def test_without_work(output):
    (output / "work" / "measure" / "stage.json").unlink()
    found = trace.trace_run(output, step="1", global_batch=1, details=True)
    assert {entry["id"] for entry in found} == {None}
    assert {entry["excerpt"] for entry in found} == {None}
    assert len(trace.show(found).splitlines()) == 4
    explained = skip.skip_steps(output, "2", global_batch=1)
    assert explained["window"]["signals"] == []
    assert "Restart" in skip.show(explained)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "expected one of --step, --sample and --document"),
        ({"step": "1", "sample": "1"}, "expected one of --step"),
        ({"step": "x"}, "expected a step or a range"),
        ({"step": "1-200000"}, "name fewer"),
        ({"sample": "x"}, "expected a number or a range"),
        ({"sample": "1-9999"}, "but the order has 199"),
    ],
)
def test_wrong_use(output, options, said):
    with pytest.raises(RecipeError, match=said):
        trace.trace_run(output, global_batch=1, **options)


def test_batches_from_the_command_line():
    assert trace.schedule_of(None, None) is None
    assert trace.schedule_of(4, None).sequences(9) == 4
    assert trace.schedule_of(4, [2, 2, 4]).sequences(1) == 2
    for wrong in ((None, [1, 1, 1]), (4, [1, 1])):
        with pytest.raises(RecipeError, match="rampup"):
            trace.schedule_of(*wrong)
    assert trace.jumps_of(["3:12"])[0].samples == 12
    for text in ("3", "3:", ":3", "a:b", "-1:2"):
        with pytest.raises(RecipeError, match="STEP:SAMPLES"):
            trace.jumps_of([text])


def test_planted_garbage_is_found_from_the_steps_alone(output, tmp_path):
    found = skip.skip_steps(
        output, "21-22", global_batch=4, save_interval=10, write=tmp_path / "skip"
    )
    window = found["window"]
    assert window["signals"][0]["signal"] == "hash_word_ratio"
    assert window["signals"][0]["effect"] > 3
    assert window["languages"][0]["language"] == "unknown"
    assert window["sources"][0]["source"] in {"web", "code"}
    places = {int(document["id"].removeprefix("doc-")) for document in window["documents"][:16]}
    assert places == set(GARBAGE)
    assert all(set(d["steps"]) <= {20, 21, 22} for d in window["documents"])
    assert {uid_of(place).hex() for place in GARBAGE} <= set(found["blocklist"])
    assert found["megatron"]["from_1"] == "--iterations-to-skip 21 22"
    assert found["restart"][0]["checkpoint_step"] == 20
    assert sorted(path.name for path in (tmp_path / "skip").iterdir()) == found["files"]
    text = skip.show(found)
    assert "hash_word_ratio" in text
    assert "--jump 21:8" in text


def test_an_ordinary_window_stands_out_little(output):
    found = skip.skip_steps(output, "2-9", global_batch=4)
    assert all(abs(row["effect"] or 0) < 0.5 for row in found["window"]["signals"])
    assert found["files"] == []
