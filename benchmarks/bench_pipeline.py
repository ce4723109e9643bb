"""What Beam and the engine cost: stages on them, and on a plain pool of processes, in one run.

    python benchmarks/bench_pipeline.py [FILE ...] [--until select] [--workers 2] [--rounds 3]

Both do the same tasks with the same functions (those of `corpusclean.stages`) and must leave the
same parts, byte for byte. The plain pool is `multiprocessing` and a dictionary that groups what
tasks send: no pipeline, receipts of tasks, progress or retries. Each is a fresh program that
starts its workers itself. Wall is from its start to its end, CPU that of all its processes, "in
tasks" what its workers spend in the functions; of all rounds the least is taken. MB are 10^6 bytes
of UTF-8 text. Without files the sample corpus is repeated to `--megabytes`, which makes nearly
every document a duplicate.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

SAMPLE = Path(__file__).parents[1] / "sample_data"
STAGES = ("measure", "select")
RECIPE = """
name: bench
sources:
  corpus:
    input: {inputs}
    id: id
    ratio: 1
    languages: {{keep: [en, zh, ja, de, fr, ru, ko, es], min_probability: 0.5}}
    filters: [anomalies, gopher_quality, gopher_repetition]
blocklists: {{silly: {{terms: {sample}/blocklist.txt, max_hits: 0}}}}
deduplicate:
  exact: true
  near: {{shingle: 5, bands: 14, rows: 8, similarity: 0.75, keep: [source_order, longest]}}
decontaminate:
  benchmarks:
    riddles: {{input: {sample}/benchmark/riddles.jsonl, fields: [question, answer]}}
  method: gpt3
  action: drop
budget: {{tokens: 1M}}
tokenizer: {{file: {sample}/tokenizer.json, eod: "<|endoftext|>"}}
output: {{directory: out, format: megatron, sequence_length: 512}}
"""


def write_sample(folder: Path, megabytes: float, pieces: int = 8) -> list[str]:
    """Write the English and Chinese sample documents again and again, to files of equal size."""
    texts = []
    for path in (SAMPLE / "en" / "encyclopedia.jsonl", SAMPLE / "multilingual" / "zh.jsonl"):
        texts += [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]
    paths, number = [], 0
    for piece in range(pieces):
        paths.append(folder / f"sample-{piece}.jsonl")
        with paths[-1].open("w", encoding="utf-8") as file:
            size = 0
            while size < megabytes * 1e6 / pieces:
                text = texts[number % len(texts)]
                file.write(json.dumps({"id": str(number), "text": text}, ensure_ascii=False) + "\n")
                number += 1
                size += len(text.encode())
    return [str(path) for path in paths]


def write_recipe(folder: Path, inputs: list[str]) -> Path:
    path = folder / "bench.yaml"
    path.write_text(RECIPE.format(inputs=json.dumps(inputs), sample=SAMPLE), "utf-8")
    return path


def run_engine(recipe: str, output: str, until: str, workers: int) -> dict[str, Any]:
    """Do the stages as `corpusclean run` does."""
    from corpusclean.recipe import load_recipe
    from corpusclean.stages.job import Job

    job = Job(load_recipe(recipe), output=output, workers=workers, quiet=True)
    job.run(until_stage=until)
    return _told({name: job.results[name] for name in STAGES if name in job.results})


def run_plain(recipe: str, output: str, until: str, workers: int) -> dict[str, Any]:
    """Do the same steps in a pool of processes, without Beam, which is not even imported."""
    with multiprocessing.get_context("spawn").Pool(workers, _one_thread) as pool:
        stand_in = ModuleType("corpusclean.engine.runner")
        stand_in.Stage = _plain_stage(pool)  # type: ignore[attr-defined]
        sys.modules[stand_in.__name__] = stand_in
        from corpusclean import files
        from corpusclean.recipe import load_recipe
        from corpusclean.stages.benchmarks import benchmark_index
        from corpusclean.stages.measure import measure
        from corpusclean.stages.select import select

        read = load_recipe(recipe)
        work = files.join(output, "work")
        files.make_folder(work)
        index = benchmark_index(read, work)
        results = {"measure": measure(read, work, output, [], index)}
        if until == "select":
            results["select"] = select(read, work, [], results["measure"], index)
        pool.close()
        pool.join()
    return _told(results)


def _one_thread() -> None:
    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def _do_plainly(work: tuple[Any, Any]) -> Any:
    from corpusclean.engine.steps import Workplace

    step, task = work
    begin = time.process_time()
    output = step.function(task, step.settings, Workplace(step.work, step.name, lambda *_: None))
    return output, time.process_time() - begin


def _plain_stage(pool: Any) -> type:
    from corpusclean.engine.accounts import EMPTY
    from corpusclean.engine.references import OUTPUT, Task
    from corpusclean.engine.results import StageResult

    class PlainStage:
        """Has the face of `corpusclean.engine.runner.Stage`; each step is done when it is named."""

        def __init__(self, name: str, work: str, options: list[str]) -> None:
            self._outputs: list[Any] = []
            self._account = EMPTY

        def __enter__(self) -> "PlainStage":
            return self

        def start(self, messages: Iterable[Any]) -> list[Any]:
            return list(messages)

        def do(self, label: str, step: Any, *sent: list[Any]) -> list[Any]:
            grouped: dict[str, list[Any]] = {}
            for name, key, item in (message for each in sent for message in each):
                if name == step.short_name:
                    grouped.setdefault(key, []).append(item)
            tasks = [Task.of(key, items) for key, items in grouped.items()]
            tasks.sort(key=lambda task: (-step.weigh(task), task.key))
            found = list(pool.imap_unordered(_do_plainly, [(step, task) for task in tasks]))
            messages = [message for output, _ in found for message in output.messages]
            self._outputs += [(key, item) for name, key, item in messages if name == OUTPUT]
            self._account = self._account._replace(
                documents=self._account.documents + sum(output.documents for output, _ in found),
                bytes=self._account.bytes + sum(output.bytes for output, _ in found),
                cpu_seconds=self._account.cpu_seconds + sum(seconds for _, seconds in found),
            )
            return messages

        def __exit__(self, *_: object) -> None:
            self.result = StageResult(sorted(self._outputs), self._account, 0.0)

    return PlainStage


def _told(results: dict[str, Any]) -> dict[str, Any]:
    """Return what a program says of its run; its workers have ended."""
    own, workers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, _CHILDREN))
    return {
        "documents": results["measure"].account.documents,
        "bytes": results["measure"].account.bytes,
        "cpu_tasks": sum(result.account.cpu_seconds for result in results.values()),
        "outputs": [list(map(list, result.outputs)) for result in results.values()],
        "rss_coordinator": own.ru_maxrss * 1024,
        "rss_worker": workers.ru_maxrss * 1024,
    }


_CHILDREN = resource.RUSAGE_CHILDREN
_WAYS = {"engine": run_engine, "plain": run_plain}


@contextlib.contextmanager
def _answers() -> Iterator[Any]:
    """Keep standard output for the answer."""
    with os.fdopen(os.dup(1), "w") as stream:
        os.dup2(2, 1)
        yield stream


def child(way: str, *told: str) -> None:
    recipe, output, until, workers = told
    with _answers() as stream:
        json.dump(_WAYS[way](recipe, output, until, int(workers)), stream)


def measured(way: str, recipe: Path, until: str, workers: int) -> dict[str, Any]:
    """Run a way in a program of its own; add its wall and CPU seconds to what it says."""
    with tempfile.TemporaryDirectory() as output:
        command = [sys.executable, __file__, "--way", way, str(recipe), output, until, str(workers)]
        before, begin = resource.getrusage(_CHILDREN), time.monotonic()
        ran = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        after, wall = resource.getrusage(_CHILDREN), time.monotonic() - begin
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(ran.stdout) | {"wall": wall, "cpu": cpu}


def compare(recipe: Path, until: str, workers: int, rounds: int) -> dict[str, dict[str, Any]]:
    best: dict[str, dict[str, Any]] = {}
    for number in range(rounds):
        for way in list(_WAYS)[:: 1 if number % 2 == 0 else -1]:
            found = measured(way, recipe, until, workers)
            known = best.setdefault(way, found)
            for key in ("wall", "cpu", "cpu_tasks"):
                known[key] = min(known[key], found[key])
            for key in ("rss_coordinator", "rss_worker"):
                known[key] = max(known[key], found[key])
    if best["engine"]["outputs"] != best["plain"]["outputs"]:
        sys.exit(f"until {until}: the engine and the plain pool left different parts")
    return best


def main() -> None:
    if sys.argv[1:2] == ["--way"]:
        child(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", help="JSON lines with `id` and `text`")
    parser.add_argument("--until", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=48)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        given = [str(Path(file).absolute()) for file in options.files]
        inputs = given or write_sample(Path(folder), options.megabytes)
        recipe = write_recipe(Path(folder), inputs)
        print("| stages | on | CPU, times plain | wall, times plain | CPU s | wall s ", end="")
        print("| MB/s a core | in tasks | MB of memory, worker | coordinator |")
        print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        for until in options.until:
            best = compare(recipe, until, options.workers, options.rounds)
            plain = best["plain"]
            for way, row in best.items():
                cells = [" + ".join(STAGES[: STAGES.index(until) + 1]), way]
                cells += [f"{row['cpu'] / plain['cpu']:.2f}", f"{row['wall'] / plain['wall']:.2f}"]
                cells += [f"{row['cpu']:.1f}", f"{row['wall']:.1f}"]
                cells += [f"{row['bytes'] / 1e6 / row[cpu]:.1f}" for cpu in ("cpu", "cpu_tasks")]
                cells += [f"{row[f'rss_{who}'] / 1e6:.0f}" for who in ("worker", "coordinator")]
                print("| " + " | ".join(cells) + " |", flush=True)
    megabytes = plain["bytes"] / 1e6
    print(f"\n{plain['documents']:,} documents, {megabytes:.1f} MB, {options.workers} workers, ")
    print(f"load average {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
