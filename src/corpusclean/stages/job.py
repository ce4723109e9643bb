"""A whole run: the four stages in turn, the ledger, and what is published at the end.

The manifest is published last. While a run changes shards there is no manifest, so a folder with
a manifest is always a finished one.
"""

import contextlib
import fcntl
import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpusclean import files
from corpusclean.engine.pool import WorkerPool
from corpusclean.engine.progress import Progress
from corpusclean.engine.results import StageResult, load_result
from corpusclean.errors import EngineError, RecipeError
from corpusclean.recipe import Recipe, check_recipe
from corpusclean.shards.manifest import publish_manifest
from corpusclean.stages.account import ledger_of, manifest_of, stages_of
from corpusclean.stages.benchmarks import benchmark_index

__all__ = ["STAGES", "Job"]

STAGES = ("measure", "select", "tokenize", "mix")
_OPTIONS = {"local": ["--runner=FnApiRunner"]}


class Job:
    """One recipe, one output folder, one engine."""

    def __init__(
        self,
        recipe: Recipe,
        *,
        output: str | Path | None = None,
        engine: str = "local",
        workers: int | None = None,
        quiet: bool = False,
    ) -> None:
        if engine not in _OPTIONS:
            raise EngineError(
                f"--engine {engine}: this version runs on the local engine only; use --engine local"
            )
        self.recipe = recipe
        self.output = str(output) if output is not None else recipe.output_directory
        self.work = files.join(self.output, "work")
        self.options = _OPTIONS[engine]
        self.workers = workers or len(os.sched_getaffinity(0))
        self.progress = Progress(quiet=quiet)
        self.results: dict[str, StageResult] = {}

    def run(self, from_stage: str | None = None, until_stage: str | None = None) -> dict[str, Any]:
        """Do the stages that are asked for; return `{"ledger", "run", "manifest", "output"}`.

        A finished part is never done again. Raises EngineError if another run works in the same
        folder, and what the stages raise.
        """
        begin = STAGES.index(from_stage or STAGES[0])
        end = STAGES.index(until_stage or STAGES[-1])
        if begin > end:
            raise EngineError(f"--from {from_stage} comes after --until {until_stage}")
        # Beam logs its own affairs on the root logger, and every error that is raised here anyway.
        logging.getLogger().setLevel(logging.CRITICAL)
        problems = check_recipe(self.recipe)
        if problems:
            raise RecipeError("\n".join(problems))
        self._tokenizer()
        files.make_folder(self.work)
        with _locked(self.work), WorkerPool(self.workers, self.progress):
            self.index = benchmark_index(self.recipe, self.work)
            for number, name in enumerate(STAGES[: end + 1]):
                if number < begin:
                    self.results[name] = load_result(self.work, name)
                else:
                    self.results[name] = self._stage(name)()
            return self._close(finished=end == len(STAGES) - 1)

    def _stage(self, name: str) -> Callable[[], StageResult]:
        return {
            "measure": self._measure,
            "select": self._select,
            "tokenize": self._tokenize,
            "mix": self._mix,
        }[name]

    def _measure(self) -> StageResult:
        from corpusclean.stages.measure import check_quarantine, measure

        result = measure(self.recipe, self.work, self.output, self.options, self.index)
        check_quarantine(self.recipe, result.account.counts)
        return result

    def _select(self) -> StageResult:
        from corpusclean.stages.select import select

        measured = self.results["measure"]
        return select(self.recipe, self.work, self.options, measured, self.index)

    def _tokenize(self) -> StageResult:
        from corpusclean.stages.tokenize import tokenize

        measured, selected = self.results["measure"], self.results["select"]
        return tokenize(self.recipe, self.work, self.options, measured, selected)

    def _mix(self) -> StageResult:
        from corpusclean.stages.mix import mix

        tokenized = self.results["tokenize"]
        return mix(self.recipe, self.work, self.output, self.options, tokenized, self._tokenizer())

    def _tokenizer(self) -> Any:
        from corpusclean.stages.tokenizing import tokenizer_of

        asked = self.recipe.tokenizer
        return tokenizer_of(self.recipe.resolve(asked.file), asked.eod)

    def _close(self, finished: bool) -> dict[str, Any]:
        """Balance the ledger; publish ledger, account of the run and, last, the manifest."""
        ledger, manifest = ledger_of(self.recipe, self.results), None
        ledger.balance()
        run = {"stages": stages_of(self.results)}
        if finished:
            sha256 = _publish(self.output, "ledger.json", ledger.to_json())
            manifest = manifest_of(
                self.recipe, self.results, self._tokenizer(), sha256, self.output
            )
            _publish(self.output, "run.json", run)
            publish_manifest(self.output, manifest)
        return {
            "ledger": ledger.to_json(),
            "run": run,
            "manifest": manifest,
            "output": self.output,
        }


def _publish(folder: str, name: str, content: Any) -> str:
    """Publish plain data as JSON and return the SHA-256 of the file."""
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    with files.publishing(files.join(folder, name)) as file:
        file.with_sha256().write(text.encode())
    return file.sha256


@contextlib.contextmanager
def _locked(work: str) -> Iterator[None]:
    """Hold the work folder for this run alone; the lock goes with the process."""
    if files.is_url(work):
        yield
        return
    with Path(work, ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise EngineError(
                f"{work}: another run is working in this folder; wait for it, or choose another "
                "folder with --output"
            ) from None
        yield
