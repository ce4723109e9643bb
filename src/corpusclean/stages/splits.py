"""How one split is measured: read, normalised, and every family of columns made.

Raw input is read once: a family that changes is made again from the stored text.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any

import msgspec
import pyarrow as pa

from corpusclean import files
from corpusclean.engine.receipts import Receipt, fingerprint, load_receipt, publish_receipt
from corpusclean.engine.references import OUTPUT, Ref, Task
from corpusclean.engine.steps import Output, Workplace
from corpusclean.recipe import Recipe
from corpusclean.sources import VERSION as SOURCES_VERSION
from corpusclean.sources.identity import normalise_newlines, uids
from corpusclean.sources.quarantine import quarantine_lines
from corpusclean.sources.reading import ColumnSpec, read_split
from corpusclean.sources.records import SCHEMA
from corpusclean.sources.splits import Split, plan_splits
from corpusclean.stages.families import Family, family_columns
from corpusclean.stages.measured import PartWriter, family_path, row_groups

__all__ = [
    "VERSION",
    "MeasureSettings",
    "measure_split",
    "planned_splits",
    "split_weight",
    "text_columns",
]

VERSION = "1"
CUTS = pa.list_(pa.struct([("start", pa.int64()), ("stop", pa.int64()), ("reason", pa.string())]))


@dataclass(frozen=True, slots=True)
class MeasureSettings:
    """What measuring a split needs to know besides the split."""

    families: tuple[Family, ...]
    quarantine: str
    """The folder of the quarantine."""


def planned_splits(recipe: Recipe) -> list[tuple[Split, ColumnSpec]]:
    """Return the splits of all sources of a recipe, each with the columns that are read of it."""
    return [
        (split, ColumnSpec(source.text, source.id, source.url, source.metadata))
        for name, source in recipe.sources.items()
        for split in plan_splits(name, source.inputs, recipe.folder)
    ]


def split_weight(task: Task) -> int:
    """Return about how many bytes are read for a task."""
    return Split(*task.inputs[0][0]).weight


def measure_split(task: Task, settings: MeasureSettings, place: Workplace) -> Output:
    """Make the families of one split that are missing or out of date."""
    split, spec = task.inputs[0]
    part = _Part(Split(*split), ColumnSpec(*spec), settings, place)
    return part.make(part.receipt("text", part.text_fingerprint))


class _Part:
    """The measured part of one split: which families stand, and how the others are made."""

    def __init__(
        self, split: Split, spec: ColumnSpec, settings: MeasureSettings, place: Workplace
    ) -> None:
        self.split = split
        self.spec = spec
        self.settings = settings
        self.place = place
        self.relative = f"{place.folder}/{split.key}"
        self.folder = place.path(self.relative)
        self.text_fingerprint = fingerprint(
            VERSION,
            SOURCES_VERSION,
            pa.__version__,
            msgspec.__version__,
            astuple(split),
            list(astuple(spec)),
        )

    def receipt(self, family: str, expected: str) -> Receipt | None:
        return load_receipt(files.join(self.folder, f"{family}.json"), expected, self.place.work)

    def _fingerprint(self, family: Family, text: Receipt) -> str:
        checksum = text.messages[0][2][1]
        return fingerprint(family.name, family.fingerprint, checksum, pa.__version__)

    def make(self, text: Receipt | None) -> Output:
        """Make what is missing: from the raw input without a receipt of the text, else from it."""
        standing: dict[str, Receipt] = {}
        if text is not None:
            standing["text"] = text
            for family in self.settings.families:
                found = self.receipt(family.name, self._fingerprint(family, text))
                if found is not None:
                    standing[family.name] = found
        stale = [f for f in self.settings.families if f.name not in standing]
        names = [f.name for f in stale] + ([] if text is not None else ["text"])
        counts: dict[str, Any] = {}
        size = 0
        with PartWriter(self.folder, names) as writer:
            batches = self._raw(counts) if text is None else self._stored(stale, standing)
            for columns in batches:
                texts = columns["text"].column("text")
                _add_families(columns, stale, texts)
                if names:
                    writer.write(columns)
                size += texts.nbytes
                self.place.progress(len(texts), texts.nbytes)
        rows = writer.rows if text is None else text.documents
        if text is None:
            text = self._publish("text", self.text_fingerprint, writer, rows, size, counts)
            standing["text"] = text
        for family in stale:
            expected = self._fingerprint(family, text)
            standing[family.name] = self._publish(family.name, expected, writer, rows, size, {})
        return self._output(standing, text)

    def _raw(self, counts: dict[str, Any]) -> Iterator[dict[str, pa.RecordBatch]]:
        """Read the split; count what is read and quarantined, and publish the quarantine."""
        source = self.split.source
        account: dict[str, Any] = {"read": 0, "blank": 0, "quarantined": {}}
        counts["sources"] = {source: account}
        causes = account["quarantined"]
        empty = True
        path = files.join(self.settings.quarantine, f"{self.split.key}.jsonl")
        with files.publishing(path) as quarantine:
            for decoded in read_split(self.split, self.spec):
                account["read"] += decoded.batch.num_rows + len(decoded.quarantined)
                account["blank"] += decoded.blank
                for record in decoded.quarantined:
                    causes[record.cause] = causes.get(record.cause, 0) + 1
                for line in quarantine_lines(self.split.path, decoded.quarantined):
                    quarantine.write(line)
                if decoded.batch.num_rows:
                    empty = False
                    yield {"text": text_columns(source, decoded.batch)}
            if empty:
                # A part without documents still has its files: later steps need no exception.
                no_records = pa.RecordBatch.from_pylist([], schema=SCHEMA)
                yield {"text": text_columns(source, no_records)}
        if not causes:
            files.remove(path)

    def _stored(
        self, stale: list[Family], standing: dict[str, Receipt]
    ) -> Iterator[dict[str, pa.RecordBatch]]:
        """Read the stored text, and the columns that the stale families read besides."""
        if not stale:
            return
        made = {family.name for family in stale}
        needed = {need for family in stale for need in family.needs} - made
        yield from row_groups(self.folder, ["text", *sorted(needed)], {"text": ["text"]})

    def _publish(
        self,
        family: str,
        expected: str,
        writer: PartWriter,
        rows: int,
        size: int,
        counts: dict[str, Any],
    ) -> Receipt:
        file = writer.written[family]
        path = family_path(self.relative, family)
        reference = Ref(path, file.checksum, 0, rows, self.split.source)
        receipt = Receipt(
            fingerprint=expected,
            files={path: file.bytes},
            messages=[(OUTPUT, self.split.key, reference)],
            counts=counts,
            documents=rows,
            bytes=size,
        )
        publish_receipt(files.join(self.folder, f"{family}.json"), receipt)
        return receipt

    def _output(self, standing: dict[str, Receipt], text: Receipt) -> Output:
        output = Output(counts=text.counts, documents=text.documents, bytes=text.bytes)
        for receipt in standing.values():
            output.written.update(receipt.files)
            output.messages += receipt.messages
        return output


def text_columns(source: str, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the `text` family of decoded records: identity, and text with newlines normalised."""
    texts = batch.column("text")
    rows = batch.num_rows
    columns = {
        "uid": uids(source, batch.column("id"), texts),
        "source": pa.array([source] * rows, pa.string()),
        "id": batch.column("id"),
        "url": batch.column("url"),
        "metadata": batch.column("metadata"),
        "text": normalise_newlines(texts),
        "cuts": pa.array([[]] * rows, CUTS),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _add_families(
    columns: dict[str, pa.RecordBatch], families: list[Family], texts: pa.Array
) -> None:
    """Add the columns of families to those of a batch; the token stream is made once for all."""
    tokens = None
    if any(family.name in ("signature", "hits") for family in families):
        from corpusclean.text.normalise import tokens as token_stream

        tokens = token_stream(texts)
    for family in families:
        columns[family.name] = family_columns(family, texts, tokens, columns)
