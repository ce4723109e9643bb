"""The one way in which a step runs on Beam, and the one shuffle: of references.

A step takes the messages sent to it from any steps before, gathers them by key into tasks, and
does each task. What it yields are messages again, and an account of each task.
"""

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import MIN_TIMESTAMP
from apache_beam.utils.windowed_value import WindowedValue

from corpusclean.engine.accounts import add_accounts
from corpusclean.engine.pool import current_pool
from corpusclean.engine.references import Task
from corpusclean.engine.steps import Account, Finished, Step, do_task, reuse_task
from corpusclean.errors import EngineError

__all__ = ["ACCOUNTS", "MESSAGES", "AddAccounts", "DoTasks"]

MESSAGES = "messages"
ACCOUNTS = "accounts"


def _sent_to(step: str, message: tuple[str, str, tuple[Any, ...]]) -> bool:
    return message[0] == step


def _keyed(message: tuple[str, str, tuple[Any, ...]]) -> tuple[str, tuple[Any, ...]]:
    return message[1], message[2]


def _unseen(documents: int, size: int) -> None:
    """Progress of a task where nobody watches: the runner has its own console."""


class _DoTaskFn(beam.DoFn):
    """Does tasks: in the pool where there is one, else here."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.waiting: list[Task] = []

    def start_bundle(self) -> None:
        self.waiting = []

    def process(self, element: tuple[str, Iterable[tuple[Any, ...]]]) -> Iterator[Any]:
        task = Task.of(*element)
        finished = reuse_task(self.step, task)
        pool = current_pool()
        if finished is None and pool is not None and pool.frozen:
            raise EngineError(
                f"{self.step.name}: {task.key} does not stand as this recipe and its input ask "
                "for. Run again without --from: only what differs is made again."
            )
        if finished is None and pool is not None:
            # Held back so that the pool sees all tasks of the bundle and works on several at once.
            self.waiting.append(task)
            return
        yield from self._outputs(finished or do_task(self.step, task, _unseen))

    def finish_bundle(self) -> Iterator[Any]:
        pool = current_pool()
        if pool is None or not self.waiting:
            return
        pool.progress.expect([self.step.weigh(task) for task in self.waiting])
        for finished in pool.run(self.step, self.waiting):
            for output in self._outputs(finished):
                yield beam.pvalue.TaggedOutput(output.tag, _in_global_window(output.value))

    @staticmethod
    def _outputs(finished: Finished) -> Iterator[beam.pvalue.TaggedOutput]:
        for message in finished.messages:
            yield beam.pvalue.TaggedOutput(MESSAGES, message)
        yield beam.pvalue.TaggedOutput(ACCOUNTS, finished.account)


def _in_global_window(value: Any) -> WindowedValue:
    return WindowedValue(value, MIN_TIMESTAMP, [GlobalWindow()])


class DoTasks(beam.PTransform):
    """Gather the messages sent to a step into tasks and do them.

    Takes messages; gives a tuple of `messages` and `accounts`.
    """

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step

    def expand(self, messages: beam.PCollection) -> Any:
        return (
            messages
            | "Sent here" >> beam.Filter(functools.partial(_sent_to, self.step.short_name))
            | "By key" >> beam.Map(_keyed).with_output_types(tuple[str, tuple])
            | "Gather references" >> beam.GroupByKey()
            | "Do" >> beam.ParDo(_DoTaskFn(self.step)).with_outputs(MESSAGES, ACCOUNTS)
        )


class AddAccounts(beam.CombineFn):
    """Adds up the accounts of a stage."""

    def create_accumulator(self) -> Account:
        return add_accounts([])

    def add_input(self, total: Account, account: Account) -> Account:
        return add_accounts([total, account])

    def merge_accumulators(self, totals: Iterable[Account]) -> Account:
        return add_accounts(totals)

    def extract_output(self, total: Account) -> Account:
        return total
