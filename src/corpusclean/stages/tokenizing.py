"""Tokenize: the kept documents of one part, their cuts made, as a token part in key order."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpusclean.engine.receipts import fingerprint
from corpusclean.engine.references import OUTPUT, Ref, Task
from corpusclean.engine.steps import Output, Workplace
from corpusclean.stages.decide import pick, read_table
from corpusclean.stages.measured import row_groups
from corpusclean.text.cutting import apply_cuts
from corpusclean.tokens.parts import TokenPartWriter
from corpusclean.tokens.tokenizers import Tokenizer, load_tokenizer

__all__ = ["TokenizeSettings", "part_rows", "tokenize_part", "tokenizer_of"]


@dataclass(frozen=True, slots=True)
class TokenizeSettings:
    """What tokenizing a part needs to know."""

    tokenizer: str
    eod: str | None
    append_eod: bool
    seed: int
    min_characters: int
    max_cut_share: float


@functools.cache
def tokenizer_of(file: str, eod: str | None) -> Tokenizer:
    """Load a tokenizer, once for a process."""
    return load_tokenizer(file, eod)


def part_rows(task: Task) -> int:
    """Return how many documents the part of a task has."""
    return max(1, pick(task, "text").stop)


def tokenize_part(task: Task, settings: TokenizeSettings, place: Workplace) -> Output:
    """Make the cuts of a part's kept documents, drop what is left too short, and tokenize."""
    tokenizer = tokenizer_of(settings.tokenizer, settings.eod)
    accelerated = tokenizer.accelerated
    output = _tokenize(task, tokenizer, settings, place)
    if accelerated and not tokenizer.accelerated:
        # The accelerator was caught in this part: what it encoded before may differ as well.
        output = _tokenize(task, tokenizer, settings, place)
    output.counts["tokenizer"] = {"parts_accelerated": int(tokenizer.accelerated)}
    return output


def _tokenize(
    task: Task, tokenizer: Tokenizer, settings: TokenizeSettings, place: Workplace
) -> Output:
    text = pick(task, "text")
    folder = place.path(text.path).rpartition("/")[0]
    verdicts = read_table(place, task.references("select/verdicts")[0], ["kept", "cuts"])
    relative = f"{place.folder}/{task.key}"
    counts = _Counts()
    output = Output()
    row = 0
    with TokenPartWriter(
        place.path(relative), tokenizer, seed=settings.seed, append_eod=settings.append_eod
    ) as writer:
        for columns in row_groups(folder, ["text"], {"text": ["uid", "source", "text"]}):
            batch = columns["text"]
            judged = verdicts.slice(row, batch.num_rows)
            row += batch.num_rows
            if batch.num_rows:
                counts.source = batch.column("source")[0].as_py()
            left = _left(batch, judged, settings, counts)
            size = left.column("text").nbytes
            empty = writer.add(left.column("uid"), left.column("text"))
            counts.drop("cut.empty", int(empty.sum()))
            place.progress(left.num_rows, size)
            output.documents += left.num_rows
            output.bytes += size
    refs = [output.published(f"{relative}.{name}", file) for name, file in writer.files.items()]
    checksum = fingerprint(*(ref.checksum for ref in refs))
    output.send(OUTPUT, task.key, Ref(relative, checksum, label=counts.source))
    counts.kept, counts.tokens = writer.documents, writer.tokens
    output.counts = counts.as_dict()
    return output


class _Counts:
    """What tokenize adds to the account of the part's source."""

    def __init__(self) -> None:
        self.source = ""
        self.kept = 0
        self.tokens = 0
        self.dropped: dict[str, int] = {}
        self.cuts: dict[str, int] = {}

    def drop(self, reason: str, count: int = 1) -> None:
        """Count documents dropped for a reason."""
        if count:
            self.dropped[reason] = self.dropped.get(reason, 0) + count

    def cut(self, reason: str) -> None:
        """Count a cut."""
        self.cuts[reason] = self.cuts.get(reason, 0) + 1

    def as_dict(self) -> dict[str, Any]:
        """Return the account, to be added up with those of other parts."""
        if not self.source:
            return {}
        told = {
            "kept": self.kept,
            "tokens": self.tokens,
            "dropped": self.dropped,
            "reasons": dict(self.dropped),
            "cuts": self.cuts,
        }
        return {"sources": {self.source: told}}


def _left(
    batch: pa.RecordBatch, verdicts: pa.Table, settings: TokenizeSettings, counts: _Counts
) -> pa.RecordBatch:
    """Return uid and text of the documents of a batch that are kept after their cuts."""
    kept = verdicts.column("kept").combine_chunks()
    cuts = verdicts.column("cuts").combine_chunks()
    batch = batch.select(["uid", "text"]).filter(kept)
    cuts = cuts.filter(kept)
    touched = np.flatnonzero(cuts.value_lengths().to_numpy(zero_copy_only=False))
    if len(touched) == 0:
        return batch
    texts = batch.column("text")
    changed = np.zeros(batch.num_rows, bool)
    dropped = np.zeros(batch.num_rows, bool)
    replaced = []
    for row in map(int, touched):
        text = texts[row].as_py()
        ranges = cuts[row].as_py()
        left, cut = apply_cuts(text, [(entry["start"], entry["stop"]) for entry in ranges])
        for entry in ranges:
            counts.cut(entry["reason"])
        reason = _too_little(text, left, cut, settings)
        if reason is not None:
            counts.drop(reason)
            dropped[row] = True
            left = ""
        changed[row] = True
        replaced.append(left)
    new = pc.replace_with_mask(texts, pa.array(changed), pa.array(replaced, texts.type))
    return pa.RecordBatch.from_arrays([batch.column("uid"), new], ["uid", "text"]).filter(
        pa.array(~dropped)
    )


def _too_little(text: str, left: str, cut: int, settings: TokenizeSettings) -> str | None:
    """Return why a document is dropped after its cuts, or None."""
    if not left:
        return "cut.empty"
    if len(left) < settings.min_characters:
        return "cut.too_short"
    if cut > settings.max_cut_share * len(text):
        return "cut.too_much"
    return None
