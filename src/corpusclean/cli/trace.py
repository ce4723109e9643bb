"""Showing which documents a training step read, or which steps read a document."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpusclean.cli.tables import table
from corpusclean.errors import RecipeError
from corpusclean.training.batches import BatchSchedule, Jump, megatron_rampup
from corpusclean.training.data import load_output
from corpusclean.training.documents import columns_of_documents
from corpusclean.training.skips import parse_steps
from corpusclean.training.trace import trace, trace_document

__all__ = ["jumps_of", "schedule_of", "show", "trace_run"]

_EXCERPT = 160
_MOST_STEPS = 100_000


def schedule_of(global_batch: int | None, rampup: Sequence[int] | None) -> BatchSchedule | None:
    """Return the batches of `--global-batch N` and `--rampup START INCREMENT SAMPLES`.

    None, for the manifest's own, if neither is given.
    """
    if rampup is None:
        return None if global_batch is None else BatchSchedule.constant(global_batch)
    if global_batch is None or len(rampup) != 3:
        raise RecipeError(
            "rampup: expected a first batch, an increment and samples, and --global-batch"
        )
    start, increment, samples = rampup
    return megatron_rampup(global_batch, start, increment, samples)


def jumps_of(texts: Sequence[str]) -> list[Jump]:
    """Return the jumps named as STEP:SAMPLES, as `skip` prints them for a restart."""
    found = []
    for text in texts:
        step, _, samples = text.partition(":")
        if not (step.isdecimal() and samples.isdecimal()):
            raise RecipeError(f"jump: found {text!r}, expected STEP:SAMPLES such as 12000:161792")
        found.append(Jump(int(step), int(samples)))
    return found


def trace_run(
    directory: Path,
    *,
    step: str | None = None,
    sample: str | None = None,
    document: str | None = None,
    skipped: str | None = None,
    rank: tuple[int, int, int] | None = None,
    details: bool = False,
    **settings: Any,
) -> list[dict[str, Any]]:
    """Return the entries of `corpusclean.training.trace` for one of step, sample and document.

    `step` and `skipped` are steps or ranges such as 12000-12100, `sample` a 0-based number or
    range, `rank` (micro-batch, ranks, rank), `settings` those of `open_training`. With `details`,
    each entry also has url, excerpt (the first characters of the document) and signals, as far as
    `work/` has them.
    """
    if sum(value is not None for value in (step, sample, document)) != 1:
        raise RecipeError("trace: expected one of --step, --sample and --document")
    told = {n for a, b in parse_steps(skipped) for n in range(a, b + 1)} if skipped else set()
    if document is not None:
        found = trace_document(directory, document, skipped=told, **settings)
    elif sample is not None:
        found = trace(directory, samples=_samples(sample), skipped=told, **settings)
    else:
        steps = [n for a, b in _bounded(parse_steps(step or "")) for n in range(a, b + 1)]
        found = trace(directory, steps, rank=rank, skipped=told, **settings)
    if details:
        _add_details(directory, found)
    return found


def _samples(text: str) -> range:
    first, _, last = text.partition("-")
    if not first.strip().isdecimal() or (last and not last.strip().isdecimal()):
        raise RecipeError(f"sample: found {text!r}, expected a number or a range such as 0-63")
    return range(int(first), int(last or first) + 1)


def _bounded(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    if sum(last - first + 1 for first, last in ranges) > _MOST_STEPS:
        raise RecipeError(f"step: found more than {_MOST_STEPS:,} steps; name fewer")
    return ranges


def _add_details(directory: Path, entries: list[dict[str, Any]]) -> None:
    uids = {bytes.fromhex(entry["uid"]) for entry in entries}
    output = load_output(directory)
    known = columns_of_documents(
        output.directory,
        uids,
        {"text": ["url", "text"], "language": None, "signals": None, "blocklists": None},
    )
    for entry in entries:
        row = dict(known.get(bytes.fromhex(entry["uid"]), {}))
        entry["url"] = row.pop("url", None)
        text = row.pop("text", None)
        entry["excerpt"] = None if text is None else " ".join(text[:_EXCERPT].split())
        entry["signals"] = row


def show(entries: list[dict[str, Any]]) -> str:
    """Return entries as a table, with an excerpt below it for each document if there are any."""
    if not entries:
        return "no tokens"
    names = ["step", "sample", "source", "id", "copy", "shard", "sequence", "start", "stop", "uid"]
    text = table(names, [[entry[name] for name in names] for entry in entries])
    excerpts = {e["uid"]: e["excerpt"] for e in entries if e.get("excerpt")}
    if excerpts:
        text += "\n\n" + "\n".join(f"{uid}  {excerpt}" for uid, excerpt in excerpts.items())
    if any(entry["skipped"] for entry in entries):
        steps = sorted({entry["step"] for entry in entries if entry["skipped"]})
        text += f"\nRead without learning, as they are skipped: steps {', '.join(map(str, steps))}"
    return text
