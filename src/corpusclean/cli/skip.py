"""After a loss spike: what the steps held, and what launchers need to go on without them."""

from pathlib import Path
from typing import Any

from corpusclean import files
from corpusclean.cli.tables import table
from corpusclean.training.skips import (
    iterations_to_skip,
    olmo_core_ranges,
    parse_steps,
    restart_plan,
    skip_files,
)
from corpusclean.training.trace import open_training
from corpusclean.training.window import compare_window

__all__ = ["show", "skip_steps"]

_SHOWN = 12


def skip_steps(
    directory: Path,
    steps: str,
    *,
    write: Path | None = None,
    save_interval: int | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Explain a window of steps and return what each launcher needs to leave it out.

    `steps` is as `12000-12100`; `save_interval` the steps between checkpoints; `settings` those
    of `open_training`. The files are written to the folder `write` if it is given; `blocklist`
    lists the uids of all documents of the window.
    """
    ranges = parse_steps(steps)
    training = open_training(directory, **settings)
    readings = training.of_steps([n for a, b in ranges for n in range(a, b + 1)])
    uids = sorted({reading.uid.hex() for _, reading in readings})
    texts = skip_files(training.schedule, ranges, uids, save_interval)
    written = []
    for name, text in texts.items() if write is not None else ():
        written.append(files.publish_bytes(files.join(str(write), name), text.encode()))
    samples = [training.schedule.samples(n) for a, b in ranges for n in range(a, b + 1)]
    return {
        "steps": [{"first": first, "last": last} for first, last in ranges],
        "samples": sum(map(len, samples)),
        "documents": len(uids),
        "window": compare_window(training.output, readings),
        "megatron": {
            "from_1": iterations_to_skip(ranges),
            "from_0": iterations_to_skip(ranges, 0),
        },
        "olmo_core": {"steps_to_skip": olmo_core_ranges(ranges)},
        "restart": [restart_plan(training.schedule, a, b, save_interval) for a, b in ranges],
        "blocklist": uids,
        "files": sorted(texts) if written else [],
    }


def show(result: dict[str, Any]) -> str:
    """Return what stands out in the window, and the plan, as text."""
    steps = ", ".join(f"{r['first']}-{r['last']}" for r in result["steps"])
    blocks = [f"Steps {steps}: {result['samples']:,} samples, {result['documents']:,} documents"]
    window = result["window"]
    for kind, names in (
        ("sources", ["source", "share", "usual"]),
        ("languages", ["language", "share", "usual"]),
        ("signals", ["signal", "mean", "usual", "effect"]),
        ("documents", ["id", "language", "signal", "value", "deviations", "uid"]),
    ):
        rows = [[row[name] for name in names] for row in window[kind][:_SHOWN]]
        if rows:
            blocks.append(table(names, rows))
    for plan in result["restart"]:
        skip, jump = plan["skip"], plan["jump"]
        blocks.append(
            f"Restart: load the checkpoint of step {plan['checkpoint_step']}, repeat "
            f"{plan['repeated_steps']} steps, leave out {skip['batches']} batches "
            f"({skip['samples']:,} samples); later traces: --jump {jump['at_step']}:"
            f"{jump['samples']}"
        )
    if result["files"]:
        blocks.append("Written: " + ", ".join(result["files"]))
    return "\n\n".join(blocks)
