"""How a model is to be trained, as far as the data decides it."""

from dataclasses import dataclass

from corpusclean.errors import RecipeError
from corpusclean.training.batches import BatchSchedule, megatron_rampup

__all__ = ["BatchRamp", "TrainingSettings", "ramp_of_tokens"]


@dataclass(frozen=True)
class BatchRamp:
    """A batch that grows from `start` by `increment` over `samples`; all in sequences."""

    start: int
    increment: int
    samples: int


@dataclass(frozen=True)
class TrainingSettings:
    """What the launcher files say beyond the manifest."""

    global_batch: int
    """Sequences of a batch, after the ramp if there is one."""
    ramp: BatchRamp | None = None
    micro_batch: int = 1
    """Sequences of a micro-batch."""
    learning_rate: float = 3e-4
    """The peak."""
    warmup_fraction: float = 0.003
    """Share of the samples over which the rate rises in a line."""
    final_fraction: float = 0.1
    """Share of the peak at which the cosine ends, with the last sample."""
    clip_gradient: float = 1.0
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    split: str = "100,0,0"
    """Megatron's --split where there are no validation shards."""
    tokenizer: str | None = None
    """What a launcher loads the tokenizer from; by default the name in the manifest."""
    directory: str = ""
    """Put before the paths of shards; empty: the launcher is started in the output folder."""
    evaluate_every: int = 1000
    """Steps between evaluations of the validation shards."""

    def schedule(self) -> BatchSchedule:
        """Return the batch size of every step. Raises RecipeError for an impossible ramp."""
        if self.ramp is None:
            return BatchSchedule.constant(self.global_batch)
        ramp = self.ramp
        return megatron_rampup(self.global_batch, ramp.start, ramp.increment, ramp.samples)


def ramp_of_tokens(
    final_tokens: int,
    sequence_length: int,
    start_tokens: int | None = None,
    ramp_tokens: int | None = None,
    multiple_of: int = 1,
) -> tuple[int, BatchRamp | None]:
    """Return (global batch, ramp) in whole sequences for batches given in tokens.

    Both are rounded to the nearest multiple of `multiple_of`, micro-batch times data-parallel
    ranks; with a ramp, which grows by its first batch each time, the final batch is rounded to a
    multiple of that. Raises RecipeError for a batch below half a sequence.
    """
    final = _rounded(final_tokens, sequence_length, multiple_of)
    if not start_tokens or not ramp_tokens:
        return final, None
    start = _rounded(start_tokens, sequence_length, multiple_of)
    samples = max(1, round(ramp_tokens / sequence_length))
    steps = round(final_tokens / (sequence_length * start))
    if steps < 2:
        return final, None
    return steps * start, BatchRamp(start, start, samples)


def _rounded(tokens: int, sequence_length: int, multiple_of: int) -> int:
    if tokens * 2 < sequence_length:
        raise RecipeError(
            f"training.global_batch: found {tokens:,} tokens, expected at least one sequence of "
            f"{sequence_length:,}"
        )
    return max(1, round(tokens / (sequence_length * multiple_of))) * multiple_of
