"""The bounded pool of worker processes of the local engine.

A worker that dies (killed, out of memory, a crash in a library) is noticed: the pool is made
anew and the tasks that were in work are done again, one at a time, so that a task that kills its
worker is known by name. A task whose worker dies three times fails the run.
"""

import contextlib
import multiprocessing
import os
import signal
import struct
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from corpusclean import files
from corpusclean.engine.progress import Progress
from corpusclean.engine.references import Task
from corpusclean.engine.steps import Finished, Step, do_task
from corpusclean.errors import CorpuscleanError, EngineError

__all__ = ["WorkerPool", "current_pool"]

_DEATHS_ALLOWED = 2
_POLL_SECONDS = 0.2

_pool: "WorkerPool | None" = None


def current_pool() -> "WorkerPool | None":
    """Return the pool of this process, or None in a worker of a cluster."""
    return _pool


def _limit_threads() -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    # Tokenizers would start a thread a core in every worker.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["RAYON_NUM_THREADS"] = "1"
    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


_PROGRESS = struct.Struct("<qq")
_sender: Any = None


def _start_worker(sender: Any, parent: int) -> None:
    global _sender
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _limit_threads()
    _sender = sender


def _work(step: Step, task: Task) -> Finished:
    def progress(documents: int, size: int) -> None:
        # So few bytes are written whole or not at all: no lock that a killed worker could keep.
        # Where the pipe is full, what it would tell is left out.
        with contextlib.suppress(BlockingIOError):
            os.write(_sender.fileno(), _PROGRESS.pack(documents, size))

    try:
        return do_task(step, task, progress)
    except CorpuscleanError:
        raise
    except OSError as error:
        raise EngineError(
            f"{step.name}: task {task.key}: {error.filename or step.work}: "
            f"{error.strerror or error}. Make room or mend access, and run the same command "
            "again: what is finished stays."
        ) from error
    except Exception as error:
        path = files.join(step.work, step.name, f"{task.key}.error.txt")
        files.publish_bytes(path, traceback.format_exc().encode())
        raise EngineError(
            f"{step.name}: task {task.key} failed: {type(error).__name__}: {error}. This is a "
            f"fault of corpusclean; please report it with {path}"
        ) from error


class WorkerPool:
    """Worker processes, started when they are first needed and kept for all stages."""

    def __init__(self, workers: int, progress: Progress) -> None:
        self.workers = workers
        self.progress = progress
        self.frozen = False
        """Whether tasks may only be reused: one that must be worked is an error."""
        self._context = multiprocessing.get_context("spawn")
        self._executor: ProcessPoolExecutor | None = None
        self._receiver: Any = None

    def __enter__(self) -> "WorkerPool":
        global _pool
        _pool = self
        return self

    def __exit__(self, *_: object) -> None:
        global _pool
        _pool = None
        self.stop()

    def stop(self) -> None:
        """End the worker processes at once."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        processes = list((getattr(executor, "_processes", None) or {}).values())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            with contextlib.suppress(OSError, ValueError):
                process.kill()
        for process in processes:
            process.join(timeout=5)

    def _submit(self, step: Step, task: Task) -> Future[Finished]:
        if self._executor is None:
            self._receiver, sender = self._context.Pipe(duplex=False)
            os.set_blocking(self._receiver.fileno(), False)
            os.set_blocking(sender.fileno(), False)
            self._executor = ProcessPoolExecutor(
                self.workers,
                mp_context=self._context,
                initializer=_start_worker,
                initargs=(sender, os.getpid()),
            )
        try:
            return self._executor.submit(_work, step, task)
        except BrokenProcessPool as error:
            # A worker died between two tasks: the future that tells so is handled like any other.
            future: Future[Finished] = Future()
            future.set_exception(error)
            return future

    def run(self, step: Step, tasks: Sequence[Task]) -> Iterator[Finished]:
        """Yield what each task gave, in the order in which they finish."""
        queue = sorted(tasks, key=lambda task: (-step.weigh(task), task.key), reverse=True)
        deaths: dict[Task, int] = {}
        suspects: list[Task] = []
        running: dict[Future[Finished], Task] = {}
        while queue or suspects or running:
            # A suspect runs alone, so that a death can be laid to it.
            while suspects and not running:
                task = suspects.pop()
                running[self._submit(step, task)] = task
            alone = bool(suspects) or any(task in deaths for task in running.values())
            while queue and not alone and len(running) < self.workers:
                task = queue.pop()
                running[self._submit(step, task)] = task
            done, _ = wait(running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            self._drain()
            broken = False
            for future in done:
                try:
                    finished = future.result()
                except BrokenProcessPool:
                    broken = True
                    continue
                task = running.pop(future)
                self.progress.finished(step.weigh(task), finished.account)
                yield finished
            if broken:
                suspects += self._bury(step, running, deaths)
                running = {}

    def _bury(
        self, step: Step, running: dict[Future[Finished], Task], deaths: dict[Task, int]
    ) -> list[Task]:
        """Note the death of a worker; return the tasks that must be done again."""
        self.stop()
        lost = list(running.values())
        for task in lost:
            deaths[task] = deaths.get(task, 0) + 1
            # A death in company may be another task's fault: it makes a suspect, no more.
            if deaths[task] > _DEATHS_ALLOWED and len(lost) == 1:
                raise EngineError(
                    f"{step.name}: the worker process died {deaths[task]} times at {task.key}. "
                    "Expected it to finish. A worker is killed when memory runs out: try "
                    "--workers 1, or look for this part's input in the receipt of the stage before."
                )
        names = ", ".join(task.key for task in lost)
        self.progress.say(f"{step.name}: a worker process died; doing again: {names}")
        return lost

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while told := os.read(self._receiver.fileno(), _PROGRESS.size):
                self.progress.advanced(*_PROGRESS.unpack(told))
        self.progress.tick()
