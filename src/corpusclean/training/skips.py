"""Going on without the batches of a loss spike: what each launcher must be told.

Two ways. A trainer's own skip list reads a batch and drops it: step numbers and data keep
together, and no order changes. A restart from a checkpoint that leaves the batches out moves the
data on instead: the step that would have read the first of them reads what comes after the last
(a `Jump`), as the PaLM report did (Chowdhery et al. 2022, arXiv:2204.02311, section 5.1).

Steps are 1-based and ranges of steps include both ends, as logs show them.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from corpusclean.errors import RecipeError
from corpusclean.training.batches import BatchSchedule, Jump

__all__ = [
    "iterations_to_skip",
    "olmo_core_ranges",
    "parse_steps",
    "restart_plan",
    "skip_files",
]

_RANGE = re.compile(r"\s*(\d{1,18})\s*(?:-\s*(\d{1,18})\s*)?", re.ASCII)

Ranges = Sequence[tuple[int, int]]
"""(first step, last step) pairs in order, which neither touch nor overlap."""


def parse_steps(text: str) -> list[tuple[int, int]]:
    """Return the steps named as `12000-12100` or `7,12000-12100`, sorted, joined where they touch.

    Raises RecipeError for anything else.
    """
    found = []
    for word in text.split(","):
        match = _RANGE.fullmatch(word)
        first, last = (int(g) for g in (match[1], match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise RecipeError(
                f"steps: found {text!r}, expected a step or a range such as 12000-12100, from 1 on"
            )
        found.append((first, last))
    joined: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def iterations_to_skip(ranges: Ranges, numbered_from: int = 1) -> str:
    """Return Megatron's option that skips steps.

    Releases of Megatron-LM differ: the newer ones number iterations from 1, as their logs do;
    the older ones, and what is built on them, compare with the iterations already done, which
    number them from 0 (`numbered_from`).
    """
    steps = [step for first, last in ranges for step in range(first, last + 1)]
    return " ".join(["--iterations-to-skip", *(str(step - 1 + numbered_from) for step in steps)])


def olmo_core_ranges(ranges: Ranges) -> list[dict[str, int]]:
    """Return OLMo-core's `steps_to_skip`: steps from 1 on, the stop not included."""
    return [{"start": first, "stop": last + 1} for first, last in ranges]


def restart_plan(
    schedule: BatchSchedule, first: int, last: int, save_interval: int | None = None
) -> dict[str, Any]:
    """Return how to restart so that the batches of steps `first` to `last` are never read.

    `schedule` is that of the training so far, with the jumps already made. Checkpoints are taken
    to be saved after every `save_interval` steps; without it, right before `first`. `jump` is what
    a trace of the training needs to know from then on.
    """
    if not 1 <= first <= last:
        raise RecipeError(f"steps: found {first} to {last}, expected a range from 1 on")
    begin, stop = schedule.samples(first).start, schedule.samples(last).stop
    checkpoint = (first - 1) // save_interval * save_interval if save_interval else first - 1
    after = schedule.with_jumps([*schedule.jumps, Jump(first, stop - begin)])
    return {
        "checkpoint_step": checkpoint,
        "repeated_steps": first - 1 - checkpoint,
        "skip": {
            "first_step": first,
            "last_step": last,
            "batches": last - first + 1,
            "first_sample": begin,
            "stop_sample": stop,
            "samples": stop - begin,
        },
        "consumed_samples": {
            "at_checkpoint": schedule.samples(checkpoint + 1).start,
            "before_skip": begin,
            "after_skip": after.samples(first).start,
        },
        "jump": {"at_step": first, "samples": stop - begin},
    }


def skip_files(
    schedule: BatchSchedule,
    ranges: Ranges,
    uids: Iterable[str] = (),
    save_interval: int | None = None,
) -> dict[str, str]:
    """Return the text of each file that a launcher, or a later run, is given; by name.

    `megatron.args` is for releases that number iterations from 1, the two others from 0.
    `restart.json` has a plan for each range, as if it were the only one.
    """
    plans = [restart_plan(schedule, first, last, save_interval) for first, last in ranges]
    return {
        "megatron.args": iterations_to_skip(ranges) + "\n",
        "megatron_from_0.args": iterations_to_skip(ranges, 0) + "\n",
        "mindspeed.args": iterations_to_skip(ranges, 0) + "\n",
        "olmo_core.json": json.dumps({"steps_to_skip": olmo_core_ranges(ranges)}, indent=1) + "\n",
        "restart.json": json.dumps(plans, indent=1) + "\n",
        "blocklist.txt": "".join(f"{uid}\n" for uid in sorted(set(uids))),
    }
