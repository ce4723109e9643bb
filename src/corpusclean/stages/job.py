"""A whole run: the four stages in turn, the ledger, and what is published at the end.

The manifest is published last. While a run changes shards there is no manifest, so a folder with
a manifest is always a finished one.
"""

import contextlib
import fcntl
import json
import logging
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpusclean import files
from corpusclean.engine.pool import WorkerPool
from corpusclean.engine.progress import Progress
from corpusclean.engine.results import StageResult
from corpusclean.errors import CorpuscleanError, EngineError, RecipeError
from corpusclean.recipe import Recipe, check_recipe
from corpusclean.shards.manifest import MANIFEST, publish_manifest
from corpusclean.sources.reading import check_columns
from corpusclean.stages.account import ledger_of, manifest_of, stages_of
from corpusclean.stages.benchmarks import benchmark_index, benchmark_problems
from corpusclean.stages.splits import planned_splits
from corpusclean.stages.tokenizing import tokenizer_of
from corpusclean.text import compiled_before

__all__ = ["STAGES", "Job", "run_problems"]

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
            raise RecipeError(
                f"--engine {engine}: this version runs on the local engine only; use --engine local"
            )
        self.recipe = recipe
        self.output = str(output) if output is not None else recipe.output_directory
        self.work = files.join(self.output, "work")
        self.options = _OPTIONS[engine]
        self.workers = workers or len(os.sched_getaffinity(0))
        self.progress = Progress(quiet=quiet)
        self.results: dict[str, StageResult] = {}
        self.changed = False

    def run(self, from_stage: str | None = None, until_stage: str | None = None) -> dict[str, Any]:
        """Do the stages that are asked for; return `{"ledger", "run", "manifest", "output"}`.

        A finished part is never done again. Raises RecipeError for what cannot be asked,
        EngineError if another run works in the same folder, and what the stages raise.
        """
        begin = STAGES.index(from_stage or STAGES[0])
        end = STAGES.index(until_stage or STAGES[-1])
        if begin > end:
            raise RecipeError(f"--from {from_stage} comes after --until {until_stage}")
        # Beam logs its own affairs on the root logger, and every error that is raised here anyway.
        logging.getLogger().setLevel(logging.CRITICAL)
        problems = run_problems(self.recipe)
        if problems:
            raise RecipeError("\n".join(problems))
        files.make_folder(self.work)
        with _locked(self.work), WorkerPool(self.workers, self.progress) as pool:
            self._own_folder()
            if not compiled_before():
                self.progress.say("compiling kernels, once for this version: half a minute or so")
            files.remove_unfinished(self.output)
            self.index = benchmark_index(self.recipe, self.work)
            try:
                for number, name in enumerate(STAGES[: end + 1]):
                    pool.frozen = number < begin
                    self.results[name] = self._result(name)
            except CorpuscleanError:
                self._close(finished=False)
                raise
            return self._close(finished=end == len(STAGES) - 1)

    def _own_folder(self) -> None:
        """Refuse a folder with the result of another recipe; leave the recipe there."""
        path = files.join(self.output, MANIFEST)
        if files.exists(path):
            with contextlib.suppress(ValueError, KeyError, TypeError):
                name = json.loads(files.read_bytes(path))["recipe"]["name"]
                if name != self.recipe.name:
                    raise RecipeError(
                        f"{self.output}: holds the result of the recipe {name!r}, and this one is "
                        f"{self.recipe.name!r}; choose another folder with --output"
                    )
        if self.recipe.path:
            copy = files.join(self.output, "recipe.yaml")
            files.publish_bytes(copy, files.read_bytes(self.recipe.path))

    def _result(self, name: str) -> StageResult:
        """Run a stage, or what is missing of it."""
        result = self._stage(name)()
        if result.account.parts != result.account.parts_reused:
            # The shards are no longer those of the parts: a manifest would say that they are.
            self.changed = True
            files.remove(files.join(self.output, MANIFEST))
        return result

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
        asked = self.recipe.tokenizer
        return tokenizer_of(self.recipe.resolve(asked.file), asked.eod)

    def _close(self, finished: bool) -> dict[str, Any]:
        """Balance the ledger; publish it, the account of the run and, last, the manifest.

        A run that has not got to its end leaves the ledger as far as it is known. One that had
        nothing to do leaves the account of the run that did.
        """
        ledger, manifest = ledger_of(self.recipe, self.results), None
        run = {
            "engine": "local",
            "workers": self.workers,
            "host": socket.gethostname(),
            "stages": stages_of(self.results),
        }
        standing = files.exists(files.join(self.output, MANIFEST))
        if not finished and not standing:
            _publish(self.output, "ledger.json", ledger.to_json())
        ledger.balance()
        if finished:
            sha256 = _publish(self.output, "ledger.json", ledger.to_json())
            manifest = manifest_of(
                self.recipe, self.results, self._tokenizer(), sha256, self.output
            )
            if self.changed or not standing:
                _publish(self.output, "run.json", run)
            publish_manifest(self.output, manifest)
        return {
            "ledger": ledger.to_json(),
            "run": run,
            "manifest": manifest,
            "output": self.output,
        }


def run_problems(recipe: Recipe) -> list[str]:
    """Return what would stop a run: files, columns, tokenizer and benchmarks that do not fit."""
    problems = check_recipe(recipe)
    if problems:
        return problems
    try:
        for split, columns in planned_splits(recipe):
            check_columns(split, columns)
        asked = recipe.tokenizer
        tokenizer_of(recipe.resolve(asked.file), asked.eod)
    except CorpuscleanError as error:
        problems.append(str(error))
    return problems + benchmark_problems(recipe)


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
