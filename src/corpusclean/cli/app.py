"""The command line: one function a command; the work is in the other files of this folder.

Every command prints one JSON document on standard output with `--json`; messages and progress go
to standard error. Exit codes: 0 done, 1 the run failed, 2 wrong use or recipe.
"""

import json
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from corpusclean.errors import CorpuscleanError, RecipeError

__all__ = ["app", "main"]

app = typer.Typer(
    name="corpusclean",
    help="From raw corpora to verified training shards, by one recipe.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
RecipePath = Annotated[Path, typer.Argument(metavar="RECIPE", help="The recipe, a YAML file.")]
OutputFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The output folder of a run.")]


class StageName(StrEnum):
    """The four stages, in their order."""

    measure = "measure"
    select = "select"
    tokenize = "tokenize"
    mix = "mix"


class EngineName(StrEnum):
    """Where a run works."""

    local = "local"
    flink = "flink"
    dataflow = "dataflow"


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(version("corpusclean"))
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Clean, deduplicate, mix and tokenize corpora for pretraining."""


def _deliver(
    as_json: bool, work: Callable[[], Any], show: Callable[[Any], str], ok: str | None = None
) -> None:
    """Do a command's work and print what it gave; end with the exit code of the contract.

    With `ok`, a result whose entry of that name is false makes the exit code 1.
    """
    try:
        result = work()
    except (CorpuscleanError, OSError) as error:
        message = str(error)
        if isinstance(error, OSError) and error.strerror:
            message = f"{error.filename or 'a file'}: {error.strerror}"
        if as_json:
            print(json.dumps({"error": {"kind": type(error).__name__, "message": message}}))
        print(f"error: {message}", file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, RecipeError) else 1) from None
    except KeyboardInterrupt:
        message = "stopped; the same command goes on from what is finished"
        if as_json:
            print(json.dumps({"error": {"kind": "Stopped", "message": message}}))
        print(f"\n{message}", file=sys.stderr)
        raise typer.Exit(1) from None
    print(json.dumps(result, ensure_ascii=False, indent=1) if as_json else show(result))
    if ok is not None and not result[ok]:
        raise typer.Exit(1)


@app.command()
def run(
    recipe: RecipePath,
    output: Annotated[
        Path | None, typer.Option(help="Write here instead of the recipe's output directory.")
    ] = None,
    engine: Annotated[EngineName, typer.Option(help="Where to work.")] = EngineName.local,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; default: one a core.")
    ] = None,
    from_stage: Annotated[
        StageName | None, typer.Option("--from", help="Take the stages before as they stand.")
    ] = None,
    until_stage: Annotated[
        StageName | None, typer.Option("--until", help="Stop after this stage.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: AsJson = False,
) -> None:
    """Carry out a recipe, or what is missing of it."""
    from corpusclean.cli.run import run_recipe, show_run

    _deliver(
        as_json,
        lambda: run_recipe(
            recipe,
            output=output,
            engine=engine.value,
            workers=workers,
            from_stage=from_stage.value if from_stage else None,
            until_stage=until_stage.value if until_stage else None,
            quiet=quiet,
        ),
        show_run,
    )


@app.command()
def check(recipe: RecipePath, as_json: AsJson = False) -> None:
    """Check a recipe, its rule sets and its inputs without any work."""
    from corpusclean.cli.check import check as check_recipe
    from corpusclean.cli.check import show

    def work() -> Any:
        result = check_recipe(recipe)
        if not result["ok"] and not as_json:
            raise RecipeError("\n".join(result["problems"]))
        return result

    try:
        _deliver(as_json, work, show, ok="ok")
    except typer.Exit as end:
        raise typer.Exit(2 if end.exit_code else 0) from None


@app.command()
def plan(
    recipe: Annotated[Path | None, typer.Argument(metavar="[RECIPE]")] = None,
    parameters: Annotated[str | None, typer.Option(help="Parameters, such as 125M.")] = None,
    flops: Annotated[str | None, typer.Option(help="Compute, such as 5.76e23.")] = None,
    tokens: Annotated[str | None, typer.Option(help="Training tokens, such as 2.5B.")] = None,
    as_json: AsJson = False,
) -> None:
    """Plan tokens, parameters and compute by the published scaling laws."""
    from corpusclean.cli.plan import plan_training, show

    _deliver(as_json, lambda: plan_training(recipe, parameters, flops, tokens), show)


@app.command()
def explain(
    recipe: RecipePath,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Documents in any input format.")],
    source: Annotated[
        str | None, typer.Option(help="Judge them as documents of this source; default: the first.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show every signal, rule, margin and verdict for the documents in a file."""
    from corpusclean.cli.explain import explain_file, show

    _deliver(as_json, lambda: explain_file(recipe, file, source), show)


@app.command()
def verify(directory: OutputFolder, as_json: AsJson = False) -> None:
    """Read every shard again and check it against the manifest, byte for byte."""
    from corpusclean.cli.verify import show, verify_directory

    _deliver(as_json, lambda: verify_directory(directory), show, ok="ok")


@app.command()
def query(
    directory: OutputFolder,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A DuckDB query.")],
    as_json: AsJson = False,
) -> None:
    """Ask a run about its documents, verdicts and provenance in SQL (read-only)."""
    from corpusclean.cli.query import query_run, show

    _deliver(as_json, lambda: query_run(directory, sql), show)


GlobalBatch = Annotated[
    int | None, typer.Option(min=1, help="Sequences a step; default: what the manifest says.")
]
Rampup = Annotated[
    tuple[int, int, int] | None,
    typer.Option(help="Megatron's batch ramp: first batch, increment, samples."),
]
Order = Annotated[str, typer.Option(help="own, the shards as one stream, or megatron.")]
Indices = Annotated[
    Path | None, typer.Option(help="Megatron's folder of cached index files, believed as it is.")
]
Jumps = Annotated[
    list[str] | None, typer.Option("--jump", help="A restart that left out samples: STEP:SAMPLES.")
]


def _training(
    global_batch: int | None,
    rampup: tuple[int, int, int] | None,
    order: str,
    indices: Path | None,
    jumps: list[str] | None,
) -> dict[str, Any]:
    from corpusclean.cli.trace import jumps_of, schedule_of

    return {
        "global_batch": schedule_of(global_batch, rampup),
        "order": order,
        "indices": indices,
        "jumps": jumps_of(jumps or []),
    }


@app.command()
def trace(
    directory: OutputFolder,
    step: Annotated[str | None, typer.Option(help="A step, from 1, or a range: 10-12.")] = None,
    sample: Annotated[str | None, typer.Option(help="A sample, from 0, or a range.")] = None,
    document: Annotated[str | None, typer.Option(help="A uid: which steps read it?")] = None,
    skipped: Annotated[str | None, typer.Option(help="Steps that were left out.")] = None,
    details: Annotated[bool, typer.Option(help="Also url, excerpt and signals.")] = False,
    global_batch: GlobalBatch = None,
    rampup: Rampup = None,
    order: Order = "own",
    indices: Indices = None,
    jumps: Jumps = None,
    as_json: AsJson = False,
) -> None:
    """Show which documents a training step read, or which steps read a document."""
    from corpusclean.cli.trace import show, trace_run

    _deliver(
        as_json,
        lambda: trace_run(
            directory,
            step=step,
            sample=sample,
            document=document,
            skipped=skipped,
            details=details,
            **_training(global_batch, rampup, order, indices, jumps),
        ),
        show,
    )


@app.command()
def skip(
    directory: OutputFolder,
    steps: Annotated[str, typer.Option(help="The steps to leave out, such as 12000-12100.")],
    write: Annotated[Path | None, typer.Option(help="Write the launchers' files here.")] = None,
    save_interval: Annotated[int | None, typer.Option(help="Steps between checkpoints.")] = None,
    global_batch: GlobalBatch = None,
    rampup: Rampup = None,
    order: Order = "own",
    indices: Indices = None,
    jumps: Jumps = None,
    as_json: AsJson = False,
) -> None:
    """Explain what steps held, and write what launchers need to go on without them."""
    from corpusclean.cli.skip import show, skip_steps

    _deliver(
        as_json,
        lambda: skip_steps(
            directory,
            steps,
            write=write,
            save_interval=save_interval,
            **_training(global_batch, rampup, order, indices, jumps),
        ),
        show,
    )


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _stop)
    app()
