"""How fast the same work is done by corpusclean and by other systems, in one run, on one core.

    python benchmarks/bench_peers.py [FILE.jsonl[.zst] --language zh] [--megabytes 3]
        [--benchmark ITEMS.jsonl[.zst] --fields question answer] [--rounds 3]
        [--datatrove-python PATH] [--dolma-python PATH] [--datasketch-python PATH] [--json]

Each system runs in the Python of an environment of its own (README.md says how to make them); one
whose Python is not named is left out. All read the same documents, are warmed up, and then do each
kind of work in turn, round after round, bound to one core. A time is the CPU time of the process,
the least of all rounds; MB are 10^6 bytes of UTF-8 text. Reading and writing files is left out.
"""

import argparse
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import zstandard

from corpusclean.files import open_read
from corpusclean.signals.language import default_path

HERE = Path(__file__).parent
SAMPLE = HERE.parent / "sample_data"
OURS = "corpusclean"
_LONGEST = 200_000
DIFFERENCES = {
    "language": "datatrove, Dolma: the fastText library, every label (k=-1), Dolma on lower case",
    "gopher": "corpusclean: all signals, for both kinds of words, and the rules",
    "minhash": "14 x 8 values; each its own normalisation and hashes",
    "decontamination": "each its own normalisation; datatrove stops at the first hit",
    "chain": "datatrove: as shipped, each step on what is left; corpusclean: all on every document",
}


def records(path: str) -> Iterator[dict[str, Any]]:
    with open_read(path) as raw:
        packed = path.endswith(".zst")
        stream = zstandard.ZstdDecompressor().stream_reader(raw) if packed else raw
        yield from map(json.loads, io.TextIOWrapper(stream, "utf-8"))


def sample_records() -> Iterator[dict[str, Any]]:
    """Yield the English documents of the sample corpus; it is small, so they come repeatedly."""
    documents = [*records(str(SAMPLE / "en" / "encyclopedia.jsonl"))]
    documents += pq.read_table(SAMPLE / "en" / "reviews.parquet", columns=["text"]).to_pylist()
    for _ in range(20):
        yield from documents


def spread(texts: Iterator[str], megabytes: float) -> Iterator[str]:
    """Yield every n-th text, so that about so many MB come from the whole file.

    Blank texts and those above 0.2 MB are left out: one of these would be most of the corpus.
    """
    fit = [text for text in texts if text.strip() and len(text) < _LONGEST]
    step = max(1, round(sum(map(len, map(str.encode, fit))) / 1e6 / megabytes))
    yield from fit[::step]


def write_texts(path: Path, texts: Iterable[str]) -> tuple[int, int]:
    """Write texts as JSON lines; return how many, and their bytes."""
    count = size = 0
    with path.open("w", encoding="utf-8") as file:
        for text in texts:
            file.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
            count += 1
            size += len(text.encode())
    return count, size


class System:
    """A running process that does tasks by name."""

    def __init__(self, name: str, python: str, job: dict[str, Any]) -> None:
        self.name = name
        self.best: dict[str, float] = {}
        self.outcomes: dict[str, str] = {}
        script = HERE / "peers" / f"{name}_tasks.py"
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [python, str(script), json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **threads},
        )
        told = self._answer()
        self.versions: dict[str, str] = told["versions"]
        self.tasks: list[str] = told["tasks"]

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{self.name}: its process ended; what it printed stands above")
        return json.loads(line)

    def do(self, task: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(task + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if "error" in answer:
            sys.exit(f"{self.name}, {task}:\n{answer['error']}")
        self.best[task] = min(answer["cpu_seconds"], self.best.get(task, float("inf")))
        self.outcomes[task] = answer["outcome"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def rows_of(systems: list[System], size: int) -> list[dict[str, Any]]:
    """Return a row for each kind of work and system, ours first of its kind."""
    ours = next(system for system in systems if system.name == OURS)
    rows = []
    for work, best in ours.best.items():
        for system in systems:
            for task, seconds in system.best.items():
                if task.partition(",")[0] == work:
                    row = {"work": work, "system": system.name, "variant": task[len(work) + 2 :]}
                    row |= {"cpu_seconds": seconds, "megabytes_per_second": size / 1e6 / seconds}
                    row |= {"times_ours": seconds / best, "outcome": system.outcomes[task]}
                    rows.append(row)
    return rows


def print_table(rows: list[dict[str, Any]]) -> None:
    print("| work | system | times ours | CPU s | MB/s | outcome |")
    print("|---|---|---:|---:|---:|---|")
    for row in rows:
        name = row["system"] + (f" ({row['variant']})" if row["variant"] else "")
        print(
            f"| {row['work']} | {name} | {row['times_ours']:.1f} | {row['cpu_seconds']:.3f} "
            f"| {row['megabytes_per_second']:.2f} | {row['outcome']} |"
        )
    print()
    for work, note in DIFFERENCES.items():
        print(f"- {work}: {note}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", help="JSON lines with `text`; default: sample_data")
    parser.add_argument("--language", default="en")
    parser.add_argument("--megabytes", type=float, default=3.0)
    parser.add_argument("--benchmark", default=str(SAMPLE / "benchmark" / "riddles.jsonl"))
    parser.add_argument("--fields", nargs="+", default=["question", "answer"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    for name in ("datatrove", "dolma", "datasketch"):
        parser.add_argument(f"--{name}-python")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    pythons = {OURS: sys.executable}
    for name in ("datatrove", "dolma", "datasketch"):
        pythons[name] = getattr(options, f"{name}_python")
    if pythons["datasketch"] is None and find_spec("datasketch"):
        pythons["datasketch"] = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        corpus, benchmark = Path(folder, "corpus.jsonl"), Path(folder, "benchmark.jsonl")
        read = records(options.file) if options.file else sample_records()
        count, size = write_texts(
            corpus, spread((each["text"] for each in read), options.megabytes)
        )
        items = (
            " ".join(str(each[field]) for field in options.fields)
            for each in records(options.benchmark)
        )
        write_texts(benchmark, items)
        job = {"corpus": str(corpus), "benchmark": str(benchmark), "model": default_path()}
        job |= {"language": options.language, "ngram": 13, "core": options.core}
        systems = [System(name, python, job) for name, python in pythons.items() if python]
        for number in range(options.rounds):
            # Every other round backwards, so that a slow minute of the machine hits no one alone.
            order = systems if number % 2 == 0 else systems[::-1]
            for work in next(each for each in systems if each.name == OURS).tasks:
                for system in order:
                    for task in system.tasks:
                        if task.partition(",")[0] == work:
                            system.do(task)
        for system in systems:
            system.close()
    rows = rows_of(systems, size)
    about = {
        "documents": count,
        "megabytes": round(size / 1e6, 2),
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "versions": {system.name: system.versions for system in systems},
    }
    if options.json:
        print(json.dumps({"about": about, "rows": rows}, indent=1))
        return
    print(json.dumps(about, indent=1), end="\n\n")
    print_table(rows)


if __name__ == "__main__":
    main()
