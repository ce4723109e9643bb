"""A system at work: does tasks that it is told on standard input, and answers with their times.

Each system runs in the Python of its own environment, so this module is of the standard library
alone. The protocol is a line of JSON each way: first the system's versions and the names of its
tasks, then for each name that is read what the task cost. Whatever libraries print goes to
standard error.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["Job", "Task", "serve"]

Task = Callable[[], str]
"""Does the work on all documents; says in a few words what came out of it."""

_WARM_DOCUMENTS = 20
_WARM_CHARACTERS = 2000


@dataclass(frozen=True)
class Job:
    """What all systems work on."""

    corpus: str
    """A file of JSON lines with `text`."""
    benchmark: str
    """A file of JSON lines with `text`: items whose n-grams are looked for."""
    model: str
    """lid.176.ftz."""
    language: str
    """Of the corpus, as a code of two letters."""
    ngram: int
    core: int


def texts_of(path: str) -> list[str]:
    """Return the texts of a file of JSON lines."""
    with Path(path).open(encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


def serve(packages: Iterable[str], tasks: Callable[[list[str], Job], dict[str, Task]]) -> None:
    """Answer until standard input ends.

    `tasks` makes the tasks for some texts. Each is done once on the first texts before anything
    is timed, so that models are loaded and kernels compiled.
    """
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        job = Job(**json.loads(sys.argv[1]))
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {job.core})
        texts = texts_of(job.corpus)
        first = [text[:_WARM_CHARACTERS] for text in texts[:_WARM_DOCUMENTS]]
        for task in tasks(first, job).values():
            task()
        prepared = tasks(texts, job)
        _say(answers, {"versions": _versions(packages), "tasks": list(prepared)})
        for line in sys.stdin:
            _say(answers, _timed(prepared[line.strip()]))


def _timed(task: Task) -> dict[str, object]:
    begin = time.process_time()
    try:
        outcome = task()
    except Exception:
        return {"error": traceback.format_exc()}
    return {"cpu_seconds": time.process_time() - begin, "outcome": outcome}


def _versions(packages: Iterable[str]) -> dict[str, str]:
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def _say(stream: object, content: object) -> None:
    print(json.dumps(content), file=stream, flush=True)  # type: ignore[call-overload]
