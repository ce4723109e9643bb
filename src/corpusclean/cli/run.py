"""Carrying out a recipe, and the summary that is printed at its end."""

from pathlib import Path
from typing import Any

from corpusclean.cli.tables import table

__all__ = ["run_recipe", "show_run"]

_MOST_REASONS = 15


def run_recipe(
    path: Path,
    *,
    output: Path | None,
    engine: str,
    workers: int | None,
    from_stage: str | None,
    until_stage: str | None,
    quiet: bool,
) -> dict[str, Any]:
    """Run a recipe; return `{"ledger": ..., "run": ..., "manifest": ...}`.

    What a stage that was not reached would give is null.
    """
    from corpusclean.recipe import load_recipe
    from corpusclean.stages.job import Job

    recipe = load_recipe(path)
    job = Job(recipe, output=output, engine=engine, workers=workers, quiet=quiet)
    return job.run(from_stage=from_stage, until_stage=until_stage)


def show_run(result: dict[str, Any]) -> str:
    """Return the ledger, the mixture and the stages of a run as text."""
    parts = [_ledger(result["ledger"])]
    if result["manifest"]:
        parts += [_mixture(result["manifest"]), _shards(result)]
    if result["ledger"].get("benchmarks"):
        parts.append(_benchmarks(result["ledger"]["benchmarks"]))
    parts.append(_stages(result["run"]["stages"]))
    return "\n\n".join(part for part in parts if part)


def _ledger(content: dict[str, Any]) -> str:
    from corpusclean.ledger import Ledger

    text = "Documents\n" + table(*Ledger.from_json(content).table())
    reasons: dict[str, int] = {}
    for entry in content["sources"].values():
        for reason, count in entry["dropped"].items():
            reasons[reason] = reasons.get(reason, 0) + count
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    if ordered:
        shown = table(["dropped because of", "documents"], ordered[:_MOST_REASONS])
        text += "\n\n" + shown
    if len(ordered) > _MOST_REASONS:
        text += f"\n... and {len(ordered) - _MOST_REASONS} more reasons in ledger.json"
    return text


def _mixture(manifest: dict[str, Any]) -> str:
    header = ["source", "target", "emitted", "documents", "available", "tokens", "epochs"]
    rows = [
        [
            name,
            f"{entry['ratio_target']:.2%}",
            f"{entry['ratio_emitted']:.2%}",
            entry["documents"],
            entry["tokens_available"],
            entry["tokens_emitted"],
            f"{entry['epochs']:.3f}",
        ]
        for name, entry in manifest["sources"].items()
    ]
    tokens = manifest["tokens"]
    total = f"budget {tokens['budget']:,} tokens, emitted {tokens['emitted']:,}"
    return "Mixture (" + total + ")\n" + table(header, rows)


def _shards(result: dict[str, Any]) -> str:
    shards = result["manifest"]["shards"]
    return f"{len(shards)} shards in {result['output']}; check them with corpusclean verify"


def _benchmarks(benchmarks: dict[str, dict[str, int]]) -> str:
    header = ["benchmark", "items", "too short to check", "found in training", "documents hit"]
    names = ("items", "items_uncheckable", "items_found", "documents")
    rows = [[name, *(entry.get(n, 0) for n in names)] for name, entry in benchmarks.items()]
    return "Benchmarks\n" + table(header, rows)


def _stages(stages: dict[str, dict[str, Any]]) -> str:
    header = ["stage", "parts", "reused", "documents", "MB", "wall s", "cpu s", "peak MB"]
    rows = [
        [
            name,
            stage["parts"],
            stage["parts_reused"],
            stage["documents"],
            round(stage["bytes"] / 1e6, 1),
            round(stage["wall_seconds"], 1),
            round(stage["cpu_seconds"], 1),
            round(stage["peak_rss_bytes"] / 1e6),
        ]
        for name, stage in stages.items()
    ]
    return "Stages\n" + table(header, rows)
