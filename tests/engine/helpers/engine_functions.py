"""Step functions for the engine's tests: importable by worker processes."""

import os
import time
from pathlib import Path

import numpy as np

from corpusclean import files
from corpusclean.engine.blocks import read_rows, send_rows
from corpusclean.engine.references import Ref, Task
from corpusclean.engine.runner import OUTPUT
from corpusclean.engine.steps import Output, Workplace
from corpusclean.errors import InputError

ROW = np.dtype([("value", "<i8")])


def _note(settings: dict, task: Task) -> None:
    if "log" in settings:
        name = f"{task.key}-{os.getpid()}-{time.monotonic_ns()}"
        (Path(settings["log"]) / name).touch()


def scatter(task: Task, settings: dict, place: Workplace) -> Output:
    """Send the numbers 0 to 9 times the task's number to two tasks, by parity."""
    _note(settings, task)
    if settings.get("dies") == task.key:
        deaths = Path(settings["log"]) / "deaths"
        count = int(deaths.read_text()) if deaths.exists() else 0
        if count < settings["times"]:
            deaths.write_text(str(count + 1))
            os._exit(9)
    if settings.get("fails") == task.key:
        raise InputError("the input is bad")
    if settings.get("crashes") == task.key:
        raise ZeroDivisionError("a defect")
    rows = np.zeros(10, ROW)
    rows["value"] = np.arange(10) * int(task.inputs[0][1])
    output = Output(documents=10, bytes=80, counts={"sources": {"a": {"kept": 10}}})
    send_rows(
        output,
        place,
        f"{task.key}.rows",
        "gather",
        rows,
        [("even", task.key), ("odd", task.key)],
        rows["value"] % 2,
    )
    place.progress(10, 80)
    return output


def gather(task: Task, settings: dict, place: Workplace) -> Output:
    """Add up what arrived."""
    _note(settings, task)
    refs = [Ref(*item) for item in task.inputs]
    total = sum(int(rows["value"].sum()) for rows in read_rows(place, refs, ROW))
    output = Output(documents=1)
    path = f"{place.folder}/{task.key}.sum"
    file = files.publish_bytes(place.path(path), str(total).encode())
    output.send(OUTPUT, task.key, output.published(path, file))
    return output
