"""Running a stage: one Beam pipeline over messages, on the engine that was chosen.

The local engine is Beam's FnApiRunner in this process with the pool of worker processes inside
the steps; on a cluster the runner's own workers do the tasks.
"""

import json
import logging
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from corpusclean import files
from corpusclean.engine.pool import current_pool
from corpusclean.engine.references import Message
from corpusclean.engine.steps import Account, Step
from corpusclean.engine.transforms import ACCOUNTS, MESSAGES, AddAccounts, DoTasks
from corpusclean.errors import CorpuscleanError, EngineError

__all__ = ["OUTPUT", "Stage", "StageResult"]

OUTPUT = "output"
"""The name to which the last step of a stage sends what the stage leaves."""


class StageResult(NamedTuple):
    """What a stage left."""

    outputs: list[tuple[str, tuple[Any, ...]]]
    """Key and reference of everything sent to `OUTPUT`, sorted."""
    account: Account
    wall_seconds: float

    def outputs_of(self, key: str) -> list[tuple[Any, ...]]:
        """Return the references that one task sent out."""
        return [item for found, item in self.outputs if found == key]


class Stage:
    """One stage: a pipeline that is built step by step, then run.

    Use as a context manager: the pipeline runs when the block ends, and `result` is there after.
    """

    def __init__(self, name: str, work: str, options: list[str]) -> None:
        self.name = name
        self.work = work
        self.result = StageResult([], Account({}, 0, 0, 0.0, 0.0, 0, 0, 0), 0.0)
        self._pipeline = beam.Pipeline(options=PipelineOptions(options))
        self._messages: list[Any] = []
        self._accounts: list[Any] = []

    def __enter__(self) -> "Stage":
        return self

    def start(self, messages: Iterable[Message]) -> Any:
        """Begin with messages made here."""
        created = self._pipeline | "Start" >> beam.Create(sorted(messages), reshuffle=False)
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
            pool.progress.begin(self.name, 0)
        target = files.join(self.work, self.name, "stage.json")
        self._finish(target)
        self._run()
        loaded = json.loads(files.read_bytes(target))
        outputs = [(key, tuple(item)) for key, item in loaded["outputs"]]
        account = Account(**loaded["account"])
        self.result = StageResult(outputs, account, time.monotonic() - start)
        if pool is not None:
            pool.progress.end(account)

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
            cause = _own_error(error)
            if cause is not None:
                # Beam adds where in its graph the error arose, which tells a user nothing.
                raise type(cause)(str(cause).partition(" [while running")[0]) from error
            message = f"{self.name}: {type(error).__name__}: {error}"
            raise EngineError(message) from error


def _own_error(error: BaseException | None) -> CorpuscleanError | None:
    """Find an error of ours that the runner has wrapped."""
    while error is not None:
        if isinstance(error, CorpuscleanError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _is_output(message: Message) -> bool:
    return message[0] == OUTPUT


def _tagged(value: Any, tag: str) -> tuple[str, tuple[str, Any]]:
    return "stage", (tag, value)


def _publish(grouped: tuple[str, Iterable[tuple[str, Any]]], target: str) -> None:
    found = dict(grouped[1])
    outputs = sorted((key, item) for _, key, item in found.get("outputs", []))
    account = Account(*found["account"])
    content = {"outputs": outputs, "account": account._asdict()}
    files.publish_bytes(target, json.dumps(content, indent=1, sort_keys=True).encode())


def quiet_beam() -> None:
    """Keep Beam's own log lines off standard error."""
    logging.getLogger("apache_beam").setLevel(logging.ERROR)
