"""Which samples a training step reads: batch sizes that grow, jumps over data, ranks.

Steps are 1-based, as logs show them; samples are 0-based; ranges are half-open. A step that a
trainer skips by its own list (Megatron's `--iterations-to-skip`, OLMo-core's `steps_to_skip`)
still takes its batch from the order, so it changes nothing here. A restart that leaves data out
is a `Jump`: from its step on, everything is read so many samples later.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpusclean.errors import RecipeError

__all__ = ["BatchSchedule", "Jump", "Stage", "megatron_rampup", "rank_samples"]


@dataclass(frozen=True, order=True)
class Stage:
    """From step `from_step` (1-based) on, a batch holds `sequences` samples."""

    from_step: int
    sequences: int


@dataclass(frozen=True, order=True)
class Jump:
    """Before step `at_step` (1-based) is read, `samples` samples are left out."""

    at_step: int
    samples: int


class BatchSchedule:
    """The batch size of every step, and so the samples that each reads."""

    def __init__(
        self, stages: Iterable[Stage | tuple[int, int]], jumps: Iterable[Jump] = ()
    ) -> None:
        """Take the stages, the first from step 1 on. Raises RecipeError for impossible ones."""
        self.stages = tuple(s if isinstance(s, Stage) else Stage(*s) for s in stages)
        self.jumps = tuple(sorted(jumps))
        starts = [stage.from_step for stage in self.stages]
        if not starts or starts[0] != 1 or any(a >= b for a, b in pairwise(starts)):
            raise RecipeError(
                f"batch sizes: found steps {starts}, expected growing steps, the first of them 1"
            )
        if any(stage.sequences < 1 for stage in self.stages):
            raise RecipeError(f"batch sizes: found {self.stages}, expected at least one sequence")
        if any(jump.at_step < 1 or jump.samples < 0 for jump in self.jumps):
            raise RecipeError(f"jumps: found {self.jumps}, expected steps from 1 on")
        self._steps = starts
        self._consumed = [0]
        for before, after in pairwise(self.stages):
            steps = after.from_step - before.from_step
            self._consumed.append(self._consumed[-1] + steps * before.sequences)

    @classmethod
    def constant(cls, sequences: int) -> "BatchSchedule":
        """Return a schedule with one batch size."""
        return cls([Stage(1, sequences)])

    def with_jumps(self, jumps: Iterable[Jump]) -> "BatchSchedule":
        """Return this schedule with other jumps."""
        return BatchSchedule(self.stages, jumps)

    def sequences(self, step: int) -> int:
        """Return the batch size of a step."""
        return self.stages[self._stage(step)].sequences

    def _stage(self, step: int) -> int:
        if step < 1:
            raise RecipeError(f"found step {step}, expected 1 or more: steps count from 1")
        return bisect_right(self._steps, step) - 1

    def trained(self, step: int) -> int:
        """Return how many samples the steps before `step` read, jumps not counted."""
        at = self._stage(step)
        stage = self.stages[at]
        return self._consumed[at] + (step - stage.from_step) * stage.sequences

    def samples(self, step: int) -> range:
        """Return the samples that a step reads."""
        first = self.trained(step) + sum(j.samples for j in self.jumps if j.at_step <= step)
        return range(first, first + self.sequences(step))

    def step_of(self, sample: int) -> int | None:
        """Return the step that reads a sample, None if it is jumped over."""
        left_out = 0
        for jump in self.jumps:
            first = self.trained(jump.at_step) + left_out
            if sample < first:
                break
            if sample < first + jump.samples:
                return None
            left_out += jump.samples
        return self._step_without_jumps(sample - left_out)

    def _step_without_jumps(self, sample: int) -> int:
        at = bisect_right(self._consumed, sample) - 1
        stage = self.stages[at]
        return stage.from_step + (sample - self._consumed[at]) // stage.sequences

    def whole_steps(self, samples: int) -> int:
        """Return how many whole steps so many samples give, jumps not counted."""
        return self._step_without_jumps(samples) - 1


def megatron_rampup(
    global_batch: int,
    start: int,
    increment: int,
    ramp_samples: int,
    multiple_of: int = 1,
    round_down: bool = False,
) -> BatchSchedule:
    """Return the schedule of Megatron's `--rampup-batch-size START INCREMENT SAMPLES`.

    The batch grows by `increment` each time an equal share of `ramp_samples` is consumed, as
    found out when a step begins. `multiple_of` is micro-batch times data-parallel ranks; with
    `round_down` (`--decrease-batch-size-if-needed`) a batch that is no multiple is rounded down,
    else it is refused, as Megatron does. Raises RecipeError for a ramp that Megatron refuses.
    """
    grow = global_batch - start
    if min(global_batch, start, increment, ramp_samples, multiple_of) < 1 or grow < 1:
        raise RecipeError(
            f"batch ramp: found {start} to {global_batch} by {increment} over {ramp_samples} "
            "samples, expected numbers above zero and a final batch above the first"
        )
    if grow % increment:
        raise RecipeError(
            f"batch ramp: from {start} to {global_batch} are {grow} sequences, which increments "
            f"of {increment} do not give"
        )
    # Megatron's own floating point: a share that is no integer must round as it does there.
    share = ramp_samples / (grow // increment)
    stages: list[Stage] = []
    consumed, step = 0, 1
    while True:
        ramping = consumed <= ramp_samples
        size = start + int(consumed / share) * increment if ramping else global_batch
        batch = _running(size, multiple_of, round_down)
        if not stages or stages[-1].sequences != batch:
            stages.append(Stage(step, batch))
        if not ramping or size == global_batch:
            return BatchSchedule(stages)
        consumed += batch
        step += 1


def _running(size: int, multiple_of: int, round_down: bool) -> int:
    if size % multiple_of == 0:
        return size
    if not round_down or size < multiple_of:
        raise RecipeError(
            f"batch ramp: a batch of {size} sequences is no multiple of {multiple_of}, the "
            "micro-batch times the data-parallel ranks"
        )
    return size // multiple_of * multiple_of


def rank_samples(samples: range, micro_batch: int, ranks: int, rank: int) -> list[range]:
    """Return the micro-batches of a step that one data-parallel rank reads, in their order.

    As Megatron's pretraining sampler deals them: blocks of `micro_batch · ranks` consecutive
    samples, of which rank r takes the r-th `micro_batch`. Raises RecipeError if the batch is not
    whole blocks or there is no such rank.
    """
    block = micro_batch * ranks
    if micro_batch < 1 or ranks < 1 or len(samples) % block:
        raise RecipeError(
            f"found a batch of {len(samples)} sequences, expected a multiple of micro-batch "
            f"{micro_batch} times {ranks} data-parallel ranks"
        )
    if not 0 <= rank < ranks:
        raise RecipeError(f"found data-parallel rank {rank}, expected 0 to {ranks - 1}")
    firsts: Sequence[int] = range(samples.start + rank * micro_batch, samples.stop, block)
    return [range(first, first + micro_batch) for first in firsts]
