"""The families of `measure` and the rules, on Arrow batches in memory."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from serving import Job, Task, serve, texts_of

from corpusclean.contamination.index import build_index
from corpusclean.contamination.scan import find_hits
from corpusclean.dedup.signatures import Signer
from corpusclean.rules.applying import RuleEvaluator
from corpusclean.rules.loading import load_rule_set
from corpusclean.signals.document import measure_document_signals
from corpusclean.signals.language import LanguageModel
from corpusclean.text.normalise import tokens

_PACKAGES = ("corpusclean", "numba", "numpy", "pyarrow", "duckdb")
_BATCH_BYTES = 16_000_000
_MIN_PROBABILITY = 0.65


def batches_of(texts: list[str]) -> list[pa.Array]:
    """Cut texts into batches of the size that the reader makes."""
    batches: list[list[str]] = [[]]
    size = 0
    for text in texts:
        if size > _BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(text)
        size += len(text.encode())
    return [pa.array(batch, pa.large_string()) for batch in batches]


def tasks(texts: list[str], job: Job) -> dict[str, Task]:
    batches = batches_of(texts)
    letters = [measure_document_signals(batch).column("letters").to_numpy() for batch in batches]
    model = LanguageModel.load(job.model)
    items = [(str(number), text) for number, text in enumerate(texts_of(job.benchmark))]
    index = build_index({"benchmark": items}, job.ngram)
    signer = Signer(shingle=5, bands=14, rows=8)
    gopher = RuleEvaluator([load_rule_set("gopher_repetition"), load_rule_set("gopher_quality")])

    def dropped(batch: pa.Array) -> tuple[pa.RecordBatch, int]:
        signals = measure_document_signals(batch)
        return signals, int(gopher.evaluate(signals).fired.any(axis=1).sum())

    def whole(batch: pa.Array) -> int:
        signals, count = dropped(batch)
        model.measure(batch, signals.column("letters").to_numpy())
        stream = tokens(batch)
        signer.sign(batch, stream)
        find_hits(batch, index, stream)
        return count

    def summed(work: Callable[[pa.Array], int], unit: str) -> Task:
        return lambda: f"{sum(map(work, batches))} {unit}"

    def language() -> str:
        kept = 0
        for batch, count in zip(batches, letters, strict=True):
            names, probabilities = model.measure(batch, count).columns
            sure = pc.greater(probabilities, _MIN_PROBABILITY)
            kept += pc.sum(pc.and_(pc.equal(names, job.language), sure)).as_py() or 0
        return f"{kept} kept"

    return {
        "language": language,
        "gopher": summed(lambda batch: dropped(batch)[1], "dropped"),
        "minhash": summed(
            lambda batch: len(batch) - signer.sign(batch).column("signature").null_count, "signed"
        ),
        "decontamination": summed(
            lambda batch: sum(n > 0 for n in find_hits(batch, index).value_lengths().to_pylist()),
            "with a hit",
        ),
        "chain": summed(whole, "dropped by gopher"),
    }


if __name__ == "__main__":
    serve(_PACKAGES, tasks)
