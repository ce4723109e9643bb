"""Running a stage: one Beam pipeline over messages, on the engine that was chosen.

The local engine is Beam's FnApiRunner in this process with the pool of worker processes inside
the steps; on a cluster the runner's own workers do the tasks.
"""

import time
from collections.abc import Iterable
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from corpusclean.engine.pool import current_pool
from corpusclean.engine.references import OUTPUT, Message
from corpusclean.engine.results import (
    NOTHING,
    StageResult,
    load_result,
    publish_result,
    result_path,
)
from corpusclean.engine.steps import Account, Step
from corpusclean.engine.transforms import ACCOUNTS, MESSAGES, AddAccounts, DoTasks
from corpusclean.errors import CorpuscleanError, EngineError

__all__ = ["Stage"]


class Stage:
    """One stage: a pipeline that is built step by step, then run.

    Use as a context manager: the pipeline runs when the block ends, and `result` is there after.
    """

    def __init__(self, name: str, work: str, options: list[str]) -> None:
        self.name = name
        self.work = work
        self.result = NOTHING
        self._pipeline = beam.Pipeline(options=PipelineOptions(options))
        self._messages: list[Any] = []
        self._accounts: list[Any] = []

    def __enter__(self) -> "Stage":
        return self

    def start(self, messages: Iterable[Message]) -> Any:
        """Begin with messages made here."""
        plain = sorted((step, key, tuple(item)) for step, key, item in messages)
        created = self._pipeline | "Start" >> beam.Create(plain, reshuffle=False)
        return self._known(created)

    def do(self, label: str, step: Step, *sent: Any) -> Any:
        """Do a step on the messages that earlier steps sent to it; return what it sends."""
        merged = sent | f"{label}: all messages" >> beam.Flatten() if len(sent) > 1 else sent[0]
        done = merged | label >> DoTasks(step)
        self._accounts.append(done[ACCOUNTS])
        return self._known(done[MESSAGES])

    def _known(self, messages: Any) -> Any:
        self._messages.append(messages)
        return messages

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None:
            return
        start = time.monotonic()
        pool = current_pool()
        if pool is not None:
            pool.progress.begin(self.name)
        self._finish(result_path(self.work, self.name))
        self._run()
        found = load_result(self.work, self.name)
        self.result = StageResult(found.outputs, found.account, time.monotonic() - start)
        if pool is not None:
            pool.progress.end(found.account)

    def _finish(self, target: str) -> None:
        """Gather what was sent to `OUTPUT` and all accounts into one small file."""
        outputs = (
            tuple(self._messages)
            | "All messages" >> beam.Flatten()
            | "Sent out" >> beam.Filter(_is_output)
            | "Outputs" >> beam.combiners.ToList()
        )
        account = (
            tuple(self._accounts)
            | "All accounts" >> beam.Flatten()
            | "Account" >> beam.CombineGlobally(AddAccounts())
        )
        both = (
            outputs | "Tag outputs" >> beam.Map(_tagged, "outputs"),
            account | "Tag account" >> beam.Map(_tagged, "account"),
        )
        _ = (
            both
            | "Both" >> beam.Flatten()
            | "One file" >> beam.GroupByKey()
            | "Publish" >> beam.Map(_publish, target)
        )

    def _run(self) -> None:
        try:
            self._pipeline.run().wait_until_finish()
        except Exception as error:
            # Beam wraps what is raised in a step, and adds where in its graph it arose, which
            # tells a user nothing.
            if _within(error, KeyboardInterrupt) is not None:
                raise KeyboardInterrupt from None
            cause = _within(error, CorpuscleanError)
            if cause is not None:
                raise type(cause)(str(cause).partition(" [while running")[0]) from error
            message = f"{self.name}: {type(error).__name__}: {error}"
            raise EngineError(message) from error


def _within(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    """Find an error of a kind among those that led to an error."""
    while error is not None:
        if isinstance(error, kind):
            return error
        error = error.__cause__ or error.__context__
    return None


def _is_output(message: Message) -> bool:
    return message[0] == OUTPUT


def _tagged(value: Any, tag: str) -> tuple[str, tuple[str, Any]]:
    return "stage", (tag, value)


def _publish(grouped: tuple[str, Iterable[tuple[str, Any]]], target: str) -> None:
    found = dict(grouped[1])
    outputs = [(key, item) for _, key, item in found.get("outputs", [])]
    publish_result(target, outputs, Account(*found["account"]))
