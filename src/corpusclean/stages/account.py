"""The accounts of a run, from what its stages counted: ledger, manifest and `run.json`."""

from collections.abc import Mapping
from typing import Any

from corpusclean.engine.results import StageResult
from corpusclean.ledger import Ledger
from corpusclean.recipe import Recipe
from corpusclean.shards.formats import format_named
from corpusclean.shards.info import ShardInfo
from corpusclean.shards.manifest import (
    ShardEntry,
    SourceTotals,
    build_manifest,
    publish_indexes,
)
from corpusclean.shards.provenance import ProvenanceInfo
from corpusclean.tokens.tokenizers import Tokenizer

__all__ = ["ledger_of", "manifest_of", "stages_of"]


def _counts(results: Mapping[str, StageResult], stage: str, source: str) -> dict[str, Any]:
    result = results.get(stage)
    return dict(result.account.counts.get("sources", {}).get(source, {})) if result else {}


def ledger_of(recipe: Recipe, results: Mapping[str, StageResult]) -> Ledger:
    """Return the ledger as far as the stages that are done can tell."""
    accounts = []
    for name in recipe.sources:
        measured, selected, tokenized, mixed = (
            _counts(results, stage, name) for stage in ("measure", "select", "tokenize", "mix")
        )
        entries = [measured]
        if "select" in results:
            entries.append({"kept": 0} | selected)
        if "tokenize" in results:
            entries[-1] = entries[-1] | {"kept": 0}
            entries.append(tokenized)
        if "mix" in results:
            emitted = mixed.get("emitted", 0)
            unused = tokenized.get("kept", 0) - emitted
            entries.append({"emitted": emitted, "unused": unused})
        accounts += [Ledger.from_json({"sources": {name: entry}}) for entry in entries]
    select = results.get("select")
    benchmarks = select.account.counts.get("benchmarks", {}) if select else {}
    accounts.append(Ledger({}, benchmarks))
    return Ledger.merged(recipe.sources, accounts)


def stages_of(results: Mapping[str, StageResult]) -> dict[str, dict[str, Any]]:
    """Return what each stage did in this run: the content of `run.json`."""
    told = {}
    for name, result in results.items():
        account = result.account
        told[name] = {
            "documents": account.documents,
            "bytes": account.bytes,
            "wall_seconds": round(result.wall_seconds, 3),
            "cpu_seconds": round(account.cpu_seconds, 3),
            "peak_rss_bytes": account.peak_rss_bytes,
            "parts": account.parts,
            "parts_reused": account.parts_reused,
            **account.counts.get("tokenizer", {}),
        }
    return told


def manifest_of(
    recipe: Recipe,
    results: Mapping[str, StageResult],
    tokenizer: Tokenizer,
    ledger_sha256: str,
    output: str,
) -> dict[str, Any]:
    """Return the manifest of a finished run; publish what its format needs besides the shards."""
    chosen = recipe.output.format
    dtype = format_named(chosen).dtype_for(tokenizer.vocabulary).name
    sources = {}
    for name, source in recipe.sources.items():
        tokenized, mixed = (_counts(results, stage, name) for stage in ("tokenize", "mix"))
        sources[name] = SourceTotals(
            ratio_target=source.ratio,
            documents=mixed.get("emitted", 0),
            tokens_available=tokenized.get("tokens", 0),
            tokens_emitted=mixed.get("tokens", 0),
        )
    shards = [
        ShardEntry(path, "train", ShardInfo(*info), provenance_path, ProvenanceInfo(*provenance))
        for _, (path, info, provenance_path, provenance) in results["mix"].outputs
    ]
    return build_manifest(
        recipe={"name": recipe.name, "sha256": recipe.sha256},
        seed=recipe.seed,
        tokenizer={
            "name": tokenizer.name,
            "sha256": tokenizer.sha256,
            "vocabulary": tokenizer.vocabulary,
            "eod": tokenizer.eod,
            "eod_id": tokenizer.eod_id,
            "append_eod": recipe.output.append_eod,
        },
        dtype=dtype,
        sequence_length=recipe.output.sequence_length,
        budget=recipe.budget.total,
        sources=sources,
        shards=shards,
        ledger_sha256=ledger_sha256,
        format=chosen,
        indexes=publish_indexes(output, chosen, dtype, shards),
    )
