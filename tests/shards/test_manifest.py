import hashlib
import json

import pytest

from corpusclean.errors import ShardError
from corpusclean.shards.info import ShardFile, ShardInfo
from corpusclean.shards.manifest import (
    ShardEntry,
    SourceTotals,
    build_manifest,
    manifest_text,
    publish_manifest,
    shard_name,
)
from corpusclean.shards.provenance import ProvenanceInfo

SHA = "0123456789abcdef" * 4


def entry(path="shards/x-00000-of-00001", split="train", tokens=30):
    files = (ShardFile(".bin", 2 * tokens, SHA), ShardFile(".idx", 102, SHA))
    info = ShardInfo("/anywhere/x", 3, 3, tokens, files)
    return ShardEntry(path, split, info, "provenance/x.parquet", ProvenanceInfo("/y", 3, 50, SHA))


def arguments(**changes):
    return {
        "recipe": {"name": "x", "sha256": SHA},
        "seed": 17,
        "tokenizer": {
            "name": "t",
            "sha256": SHA,
            "vocabulary": 100,
            "eod": "<|endoftext|>",
            "eod_id": 99,
            "append_eod": True,
        },
        "dtype": "uint16",
        "sequence_length": 2048,
        "budget": 31,
        "sources": {
            "web": SourceTotals(0.7, 2, 40, 20),
            "日本語": SourceTotals(0.3, 1, 4, 10),
            "empty": SourceTotals(0.0, 0, 0, 0),
        },
        "shards": [entry()],
        "ledger_sha256": SHA,
    } | changes


def test_the_shape():
    manifest = build_manifest(**arguments())
    assert list(manifest)[:8] == [
        *("version", "recipe", "seed", "tokenizer", "dtype", "sequence_length", "tokens", "sources")
    ]
    assert manifest["tokens"] == {"budget": 31, "emitted": 30}
    assert list(manifest["sources"]) == ["web", "日本語", "empty"]
    assert manifest["sources"]["web"] == {
        "ratio_target": 0.7,
        "ratio_emitted": 20 / 30,
        "documents": 2,
        "tokens_available": 40,
        "tokens_emitted": 20,
        "epochs": 0.5,
    }
    assert manifest["sources"]["empty"]["epochs"] == 0.0
    shard = manifest["shards"][0]
    assert list(shard)[:6] == ["path", "split", "documents", "tokens", "bytes", "sha256"]
    assert (shard["idx_sha256"], shard["bytes"]) == (SHA, 60)
    assert "anywhere" not in manifest_text(manifest)


def test_ratios_are_of_training():
    shards = [entry(), entry("shards/v-00000-of-00001", "validation", 500)]
    manifest = build_manifest(**arguments(shards=shards))
    assert manifest["tokens"]["emitted"] == 30
    assert manifest["sources"]["web"]["ratio_emitted"] == 20 / 30


def test_one_text_and_its_checksum(tmp_path):
    manifest = build_manifest(**arguments())
    publish_manifest(tmp_path, manifest)
    content = (tmp_path / "manifest.json").read_bytes()
    assert content.decode() == manifest_text(manifest)
    assert manifest_text(json.loads(content)).encode() == content
    assert "日本語" in content.decode()
    line = (tmp_path / "manifest.json.sha256").read_text()
    assert line == f"{hashlib.sha256(content).hexdigest()}  manifest.json\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shards": []}, "hold 0 tokens, the sources emitted 30"),
        ({"shards": [entry("/out/shards/x")]}, "found '/out/shards/x', expected a relative path"),
        ({"shards": [entry("../x")]}, "expected a relative path"),
        ({"shards": [entry(split="test")]}, "expected train or validation"),
        ({"recipe": {"name": "x", "sha256": "?"}}, "recipe.sha256"),
        ({"dtype": "uint32"}, "dtype"),
        ({"seed": "1"}, "seed"),
        ({"ledger_sha256": ""}, "ledger.sha256"),
    ],
)
def test_what_is_no_manifest_is_refused(changes, message):
    if "shards" in changes and changes["shards"] and changes["shards"][0].split == "test":
        changes = changes | {"sources": {}}
    with pytest.raises(ShardError, match=message):
        build_manifest(**arguments(**changes))


def test_names_sort_in_their_order():
    names = [shard_name("web", i, 12) for i in range(12)]
    assert names[3] == "web-00003-of-00012"
    assert names == sorted(names)
