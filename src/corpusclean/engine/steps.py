"""How one task of a step is done: reused from its receipt, or worked and receipted.

This is the only place where a step's function is called, on every engine: in a process of the
local pool, or in a worker of a cluster.
"""

import contextlib
import os
import resource
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from corpusclean import files
from corpusclean.engine.receipts import Receipt, fingerprint, load_receipt, publish_receipt
from corpusclean.engine.references import Message, Ref, Task

__all__ = ["Account", "Finished", "Output", "Step", "Workplace", "do_task", "reuse_task"]


def _one(task: Task) -> int:
    return 1


@dataclass(slots=True)
class Output:
    """What a step's function gives back for one task."""

    written: dict[str, int] = field(default_factory=dict)
    """Published files, relative to the work folder, and their bytes."""
    messages: list[Message] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    documents: int = 0
    bytes: int = 0

    def published(self, path: str, file: files.PublishedFile) -> Ref:
        """Note a published file, its path relative to the work folder; return its reference."""
        self.written[path] = file.bytes
        return Ref(path, file.checksum)

    def send(self, step: str, key: str, item: tuple[Any, ...]) -> None:
        """Send a reference to a task of a later step, named without its stage."""
        self.messages.append((step, key, tuple(item)))


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a task reads and writes, and how it tells of its progress."""

    work: str
    """The work folder; all references are relative to it."""
    folder: str
    """The step's own folder, relative to the work folder."""
    progress: Callable[[int, int], None]
    """Called with documents and bytes of text done since the last call."""

    def path(self, relative: str) -> str:
        """Return the full path of a file below the work folder."""
        return files.join(self.work, relative)


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of work: a function of a task, and all that shapes its output besides the task."""

    name: str
    """`stage/step`, also the folder of its parts and receipts below the work folder."""
    function: Callable[[Task, Any, Workplace], Output]
    settings: Any
    work: str
    fingerprint: str
    """Of the settings, versions and models that the function uses."""
    weigh: Callable[[Task], int] = _one
    """How much work a task is, in any unit: heavy tasks start first, time left follows it."""

    @property
    def short_name(self) -> str:
        """The name by which messages are sent to this step."""
        return self.name.rpartition("/")[2]

    def task_fingerprint(self, task: Task) -> str:
        """Return the fingerprint that a receipt of this task must carry."""
        return fingerprint(self.name, self.fingerprint, task.key, task.inputs)

    def receipt_path(self, task: Task) -> str:
        """Return where the receipt of a task stands."""
        return files.join(self.work, self.name, f"{task.key}.json")


class Account(NamedTuple):
    """What the tasks of a stage did, to be added up."""

    counts: dict[str, Any]
    documents: int
    bytes: int
    wall_seconds: float
    cpu_seconds: float
    peak_rss_bytes: int
    parts: int
    parts_reused: int


class Finished(NamedTuple):
    """A task that is done: what it sent on, and its account."""

    messages: list[Message]
    account: Account


def _finished(receipt: Receipt, reused: bool) -> Finished:
    times = (0.0, 0.0, 0) if reused else _times(receipt)
    account = Account(
        receipt.counts, receipt.documents, receipt.bytes, *times, parts=1, parts_reused=int(reused)
    )
    return Finished(receipt.messages, account)


def _times(receipt: Receipt) -> tuple[float, float, int]:
    return receipt.wall_seconds, receipt.cpu_seconds, receipt.peak_rss_bytes


def reuse_task(step: Step, task: Task) -> Finished | None:
    """Return what a task gave in an earlier run, if its receipt is valid."""
    receipt = load_receipt(step.receipt_path(task), step.task_fingerprint(task), step.work)
    return None if receipt is None else _finished(receipt, reused=True)


def _peak_rss_bytes() -> int:
    """Return the most memory that this process has had resident.

    The system's own account starts with the peak of the process that started this one; Linux has
    the process's own beside it.
    """
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def do_task(step: Step, task: Task, progress: Callable[[int, int], None]) -> Finished:
    """Do a task and publish its receipt."""
    wall, cpu = time.perf_counter(), time.process_time()
    output = step.function(task, step.settings, Workplace(step.work, step.name, progress))
    receipt = Receipt(
        fingerprint=step.task_fingerprint(task),
        files=output.written,
        messages=output.messages,
        counts=output.counts,
        documents=output.documents,
        bytes=output.bytes,
        wall_seconds=round(time.perf_counter() - wall, 6),
        cpu_seconds=round(time.process_time() - cpu, 6),
        peak_rss_bytes=_peak_rss_bytes(),
        host=socket.gethostname(),
        process=os.getpid(),
    )
    publish_receipt(step.receipt_path(task), receipt)
    return _finished(receipt, reused=False)
