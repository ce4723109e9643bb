"""From a training step to the documents that it read, and from a document to the steps.

Everything is answered from `manifest.json`, the .idx files and `provenance/`; identifiers of
documents come from `work/` if it is still there, else they are None.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corpusclean.errors import InputError, RecipeError
from corpusclean.training.attribution import Reading, attribute, pieces_of_document
from corpusclean.training.batches import BatchSchedule, Jump, Stage, rank_samples
from corpusclean.training.cached import CachedOrder
from corpusclean.training.data import Output, load_output
from corpusclean.training.documents import columns_of_documents
from corpusclean.training.order import MegatronOrder, Order, OwnOrder, check_samples
from corpusclean.training.supply import megatron_supply

__all__ = ["ORDERS", "TrainingRun", "open_training", "trace", "trace_document"]

ORDERS = ("own", "megatron")

Rank = tuple[int, int, int] | None
"""Sequences of a micro-batch, data-parallel ranks, and one of these, from 0."""

GlobalBatch = int | BatchSchedule | Sequence[tuple[int, int]] | None


@dataclass(frozen=True)
class TrainingRun:
    """A training on an output: in which order and in which batches it reads."""

    output: Output
    order: Order
    schedule: BatchSchedule

    @property
    def steps(self) -> int:
        """Whole steps that the order has samples for."""
        left_out = sum(jump.samples for jump in self.schedule.jumps)
        return self.schedule.whole_steps(max(0, self.order.samples - left_out))

    def of_samples(self, samples: Iterable[range]) -> list[Reading]:
        """Return what ranges of samples read, in the order of the samples, each once."""
        numbers = np.unique(np.concatenate([np.arange(r.start, r.stop) for r in samples]))
        return attribute(self.output, self.order.slices(numbers))

    def of_steps(self, steps: Sequence[int], rank: Rank = None) -> list[tuple[int, Reading]]:
        """Return what steps read, or one rank in them; each reading with its step."""
        ranges: list[range] = []
        for step in steps:
            samples = self.schedule.samples(step)
            check_samples(self.order, samples, f"step {step}")
            ranges += [samples] if rank is None else rank_samples(samples, *rank)
        if not ranges:
            return []
        found = self.of_samples(ranges)
        return [(self.schedule.step_of(reading.sample) or 0, reading) for reading in found]


def open_training(
    directory: str | Path,
    order: str = "own",
    global_batch: GlobalBatch = None,
    sequence_length: int | None = None,
    seed: int | None = None,
    training_samples: int | None = None,
    indices: str | Path | None = None,
    jumps: Iterable[Jump] = (),
) -> TrainingRun:
    """Return a training on an output folder.

    `order` is own or megatron; `indices` is the folder of Megatron's cached index files, which
    are then believed, also of a seed that is not the manifest's. `global_batch` is a batch size
    in sequences, (from step, sequences) pairs or a schedule; by default what the manifest says.
    `sequence_length` and `seed` are those of the training and must be the manifest's.
    `training_samples` is Megatron's `--train-samples`; by default what the launcher files have.
    Raises RecipeError for settings that do not fit.
    """
    output = load_output(directory)
    output.require(sequence_length, None if indices is not None else seed)
    schedule = _schedule(output, global_batch).with_jumps(jumps)
    if indices is not None:
        return TrainingRun(output, CachedOrder(output, indices, seed), schedule)
    if order == "own":
        return TrainingRun(output, OwnOrder(output), schedule)
    if order != "megatron":
        raise RecipeError(f"order: found {order!r}, expected one of {', '.join(ORDERS)}")
    supply = megatron_supply(output)
    if training_samples is None:
        told = (output.manifest.get("training") or {}).get("samples")
        whole = schedule.trained(schedule.whole_steps(supply.samples) + 1)
        training_samples = int(told) if told else whole
    found = MegatronOrder(output, supply.shards, training_samples, output.seed, supply.blended)
    return TrainingRun(output, found, schedule)


def _schedule(output: Output, global_batch: GlobalBatch) -> BatchSchedule:
    if isinstance(global_batch, BatchSchedule):
        return global_batch
    if isinstance(global_batch, int):
        return BatchSchedule.constant(global_batch)
    if global_batch is not None:
        return BatchSchedule(global_batch)
    told = (output.manifest.get("training") or {}).get("global_batch")
    if not told:
        raise RecipeError(
            f"{output.path('manifest.json')}: says no batch size, as its recipe has no training "
            "section; name it by --global-batch, in sequences"
        )
    length = output.sequence_length
    return BatchSchedule(Stage(said["from_step"], said["tokens"] // length) for said in told)


def trace(
    directory: str | Path,
    steps: int | Iterable[int] | None = None,
    *,
    samples: range | None = None,
    rank: Rank = None,
    skipped: Iterable[int] = (),
    **settings: Any,
) -> list[dict[str, Any]]:
    """Return what steps read, one entry for each run of tokens of one document.

    `steps` are 1-based; instead of them, `samples` may be named. With `rank`, only what that
    data-parallel rank reads of the steps. `settings` are those of
    `open_training`. An entry has step, sample (0-based), source, uid, id, copy, shard (number and,
    as path, its file), sequence, start and stop (token offsets in the sequence, half-open),
    document_start, and skipped: whether the step, one of `skipped`, read without learning.
    """
    training = open_training(directory, **settings)
    found: list[tuple[int | None, Reading]] = []
    if samples is not None:
        check_samples(training.order, samples, "the range")
        read = training.of_samples([samples])
        found += [(training.schedule.step_of(reading.sample), reading) for reading in read]
    found += training.of_steps([steps] if isinstance(steps, int) else list(steps or ()), rank)
    return entries(training.output, found, frozenset(skipped))


def trace_document(
    directory: str | Path, uid: str, *, skipped: Iterable[int] = (), **settings: Any
) -> list[dict[str, Any]]:
    """Return every sample that holds a token of a document, in the order of training.

    Entries are those of `trace`; step is None for a sample that no step of the schedule reads.
    `uid` is 32 hex digits. Raises InputError if no training shard holds the document.
    """
    training = open_training(directory, **settings)
    try:
        wanted = bytes.fromhex(uid)
    except ValueError:
        wanted = b""
    if len(wanted) != 16:
        raise RecipeError(f"document: found {uid!r}, expected a uid of 32 hex digits")
    pieces = pieces_of_document(training.output, wanted)
    if not pieces:
        raise InputError(
            f"{training.output.directory}: no training shard holds document {uid}; it was "
            "dropped, held out for validation or not needed for the budget: ask its verdict by "
            f"corpusclean query, SELECT * FROM verdicts WHERE uid = '{uid}'"
        )
    samples = [
        training.order.holding(shard, piece.sequence, piece.start, piece.stop)
        for shard, piece in pieces
    ]
    slices = training.order.slices(np.unique(np.concatenate(samples)))
    readings = [r for r in attribute(training.output, slices) if r.uid == wanted]
    found = [(training.schedule.step_of(reading.sample), reading) for reading in readings]
    return entries(training.output, found, frozenset(skipped))


def entries(
    output: Output, found: list[tuple[int | None, Reading]], skipped: frozenset[int]
) -> list[dict[str, Any]]:
    """Return readings as plain data, with the identifiers of their documents."""
    uids = {reading.uid for _, reading in found}
    ids = columns_of_documents(output.directory, uids, {"text": ["id"]})
    paths = {shard.number: shard.path for shard in output.shards}
    return [
        {
            "step": step,
            "sample": reading.sample,
            "source": reading.source,
            "uid": reading.uid.hex(),
            "id": ids.get(reading.uid, {}).get("id"),
            "copy": reading.copy,
            "shard": reading.shard,
            "path": paths[reading.shard],
            "sequence": reading.sequence,
            "start": reading.start,
            "stop": reading.stop,
            "document_start": reading.document_start,
            "skipped": step in skipped,
        }
        for step, reading in found
    ]
