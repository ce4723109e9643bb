"""What stood in a window of steps, against what the run usually holds.

Shares of sources are of tokens, exact, against the manifest. Languages and signals need what is
measured of documents, in `work/`: the documents of the window, each once, stand against a sample
of all that select kept, chosen by uid, so the same every time. A signal's `effect` is how far the
window's mean lies from the usual one, in standard deviations of a document.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corpusclean import files
from corpusclean.training.attribution import Reading
from corpusclean.training.data import Output
from corpusclean.training.documents import measured_parts

__all__ = ["compare_window"]

_SAMPLE = 100_000
_FEWEST = 2
_NOT_SIGNALS = {"text", "signature", "hits"}
_SHOWN_DOCUMENTS = 20


@dataclass
class _Side:
    """Documents of one side: `uids`, and what is known of each, row for row."""

    uids: list[bytes] = field(default_factory=list)
    ids: list[str | None] = field(default_factory=list)
    languages: list[str | None] = field(default_factory=list)
    values: dict[str, list[np.ndarray]] = field(default_factory=dict)

    def column(self, name: str) -> np.ndarray:
        """Return a signal, float64[n], NaN where it is not defined."""
        return np.concatenate(self.values[name]) if self.values.get(name) else np.empty(0)


def compare_window(
    output: Output, readings: Iterable[tuple[int, Reading]]
) -> dict[str, list[dict[str, Any]]]:
    """Return tables `sources`, `languages`, `signals`, `documents`; what stands out comes first.

    `readings` are (step, reading). All but `sources` are empty where `work/` is gone.
    """
    tokens: Counter[str] = Counter()
    of_document: dict[bytes, set[int]] = {}
    repeated = 0
    for step, reading in readings:
        count = reading.stop - reading.start
        tokens[reading.source] += count
        repeated += count if reading.copy else 0
        of_document.setdefault(reading.uid, set()).add(step)
    window, usual = _Side(), _Side()
    for group in _groups(output.directory, set(of_document)):
        _add(window, group, group["wanted"])
        _add(usual, group, group["sampled"])
    signals = _signals(window, usual)
    return {
        "sources": _sources(output, tokens, repeated),
        "languages": _languages(window, usual),
        "signals": [{k: v for k, v in row.items() if k != "deviation"} for row in signals],
        "documents": _documents(window, of_document, signals),
    }


def _sources(output: Output, tokens: Counter[str], repeated: int) -> list[dict[str, Any]]:
    total = sum(tokens.values()) or 1
    rows = [
        {"source": name, "share": tokens[name] / total, "usual": said["ratio_emitted"]}
        for name, said in output.manifest["sources"].items()
    ]
    emitted = {n: (s["tokens_emitted"], s["epochs"]) for n, s in output.manifest["sources"].items()}
    again = sum(t * (1 - 1 / e) for t, e in emitted.values() if e > 1)
    usual = again / (sum(t for t, _ in emitted.values()) or 1)
    rows.sort(key=lambda row: row["usual"] - row["share"])
    return [*rows, {"source": "(repeated copies)", "share": repeated / total, "usual": usual}]


def _groups(directory: str, uids: set[bytes]) -> Iterator[dict[str, Any]]:
    """Yield what is known of the documents of a measured part.

    `uid`, `id` and the signals in `columns` are Arrow columns; `wanted` and `sampled` bool[n] are
    the documents of the window and those that stand for the usual.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    kept = _kept_documents(directory)
    bound = np.uint32(min(2**32 - 1, round(2**32 * _SAMPLE / kept)) if kept else 2**32 - 1)
    values = pa.array(sorted(uids), pa.binary(16))
    for folder in measured_parts(directory):
        columns: dict[str, Any] = {}
        for path in files.list_files(folder):
            family = path.rpartition("/")[2].removesuffix(".parquet")
            if path.endswith(".parquet") and family not in _NOT_SIGNALS:
                with files.open_read(path) as raw:
                    table = pq.ParquetFile(raw).read()
                columns |= dict(zip(table.column_names, table.columns, strict=True))
        with files.open_read(files.join(folder, "text.parquet")) as raw:
            text = pq.ParquetFile(raw).read(["uid", "id"]).combine_chunks()
        uid = text.column("uid").combine_chunks()
        words = np.frombuffer(uid.buffers()[1], ">u4")[4 * uid.offset :: 4][: len(uid)]
        sampled = words <= bound
        verdicts = _verdicts(directory, folder)
        if verdicts is not None:
            sampled &= verdicts.column("kept").to_numpy()
            columns["cluster_size"] = verdicts.column("cluster_size")
        yield {
            "uid": uid,
            "id": text.column("id"),
            "columns": columns,
            "wanted": pc.is_in(uid, values).to_numpy(zero_copy_only=False),
            "sampled": sampled,
        }


def _verdicts(directory: str, folder: str) -> Any:
    import pyarrow.parquet as pq

    path = files.join(directory, "work/select/verdicts", folder.rpartition("/")[2] + ".parquet")
    if not files.exists(path):
        return None
    with files.open_read(path) as raw:
        return pq.ParquetFile(raw).read(["kept", "cluster_size"])


def _kept_documents(directory: str) -> int:
    try:
        said = json.loads(files.read_bytes(files.join(directory, "ledger.json")))
        return sum(int(source["kept"]) for source in said["sources"].values())
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _add(side: _Side, group: Mapping[str, Any], chosen: np.ndarray) -> None:
    import pyarrow as pa

    rows = np.flatnonzero(chosen)
    known = len(side.uids)
    side.uids += group["uid"].take(rows).to_pylist()
    side.ids += group["id"].take(rows).to_pylist()
    columns = group["columns"]
    language = columns.get("language")
    side.languages += (
        language.take(rows).to_pylist() if language is not None else [None] * len(rows)
    )
    numeric = {
        name: column
        for name, column in columns.items()
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    }
    for name in {**side.values, **numeric}:
        arrays = side.values.setdefault(name, [np.full(known, np.nan)])
        if name in numeric:
            taken = numeric[name].take(rows).cast(pa.float64(), safe=False)
            arrays.append(taken.to_numpy().astype(np.float64))
        else:
            arrays.append(np.full(len(rows), np.nan))


def _languages(window: _Side, usual: _Side) -> list[dict[str, Any]]:
    here, there = Counter(window.languages), Counter(usual.languages)
    rows = [
        {
            "language": name,
            "share": here[name] / (len(window.uids) or 1),
            "usual": there[name] / (len(usual.uids) or 1),
        }
        for name in sorted({*here, *there} - {None}, key=str)
    ]
    return sorted(rows, key=lambda row: row["usual"] - row["share"])


def _signals(window: _Side, usual: _Side) -> list[dict[str, Any]]:
    rows = []
    for name in sorted(usual.values):
        here, there = window.column(name), usual.column(name)
        here, there = here[~np.isnan(here)], there[~np.isnan(there)]
        if not len(here) or len(there) < _FEWEST:
            continue
        mean, deviation = float(there.mean()), float(there.std())
        found = float(here.mean())
        rows.append(
            {
                "signal": name,
                "documents": len(here),
                "mean": found,
                "usual": mean,
                "effect": (found - mean) / deviation if deviation else None,
                "deviation": deviation,
            }
        )
    return sorted(rows, key=lambda row: (-abs(row["effect"] or 0.0), row["signal"]))


def _documents(
    window: _Side, steps: Mapping[bytes, set[int]], signals: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the documents that lie furthest from the usual in one signal."""
    furthest = np.zeros(len(window.uids))
    which = np.zeros(len(window.uids), np.int64)
    for i, row in enumerate(signals):
        if row["deviation"]:
            far = np.abs(window.column(row["signal"]) - row["usual"]) / row["deviation"]
            far = np.nan_to_num(far)
            which = np.where(far > furthest, i, which)
            furthest = np.maximum(furthest, far)
    order = sorted(range(len(furthest)), key=lambda i: (-furthest[i], window.uids[i]))
    found = []
    for i in order[:_SHOWN_DOCUMENTS]:
        if not furthest[i]:
            break
        signal = signals[int(which[i])]["signal"]
        found.append(
            {
                "uid": window.uids[i].hex(),
                "id": window.ids[i],
                "language": window.languages[i],
                "steps": sorted(steps[window.uids[i]]),
                "signal": signal,
                "value": float(window.column(signal)[i]),
                "deviations": float(furthest[i]),
            }
        )
    return found
