"""What a stage leaves: references to its outputs, and the account of its tasks."""

import json
from typing import Any, NamedTuple

from corpusclean import files
from corpusclean.engine.accounts import EMPTY
from corpusclean.engine.steps import Account
from corpusclean.errors import EngineError

__all__ = [
    "NOTHING",
    "StageResult",
    "load_result",
    "publish_result",
    "result_path",
    "stage_outputs",
]


class StageResult(NamedTuple):
    """What a stage left."""

    outputs: list[tuple[str, tuple[Any, ...]]]
    """Key and reference of everything that tasks sent out of the stage, sorted."""
    account: Account
    wall_seconds: float

    def outputs_of(self, key: str) -> list[tuple[Any, ...]]:
        """Return the references that the tasks of one key sent out."""
        return [item for found, item in self.outputs if found == key]

    def keys(self) -> list[str]:
        """Return the keys of all outputs, sorted, each once."""
        return sorted({key for key, _ in self.outputs})


NOTHING = StageResult([], EMPTY, 0.0)
"""The result of a stage that has not run."""


def result_path(work: str, stage: str) -> str:
    """Return where the result of a stage stands."""
    return files.join(work, stage, "stage.json")


def publish_result(path: str, outputs: list[tuple[str, tuple[Any, ...]]], account: Account) -> None:
    """Publish the result of a stage."""
    content = {"outputs": sorted(outputs), "account": account._asdict()}
    files.publish_bytes(path, json.dumps(content, indent=1, sort_keys=True).encode())


def load_result(work: str, stage: str) -> StageResult:
    """Return what a stage left in an earlier run; EngineError if it never finished."""
    path = result_path(work, stage)
    try:
        loaded = json.loads(files.read_bytes(path))
        outputs = [(key, tuple(item)) for key, item in loaded["outputs"]]
        return StageResult(outputs, Account(**loaded["account"]), 0.0)
    except FileNotFoundError:
        raise EngineError(
            f"{path}: not found; expected the result of a finished {stage} stage. "
            f"Run the recipe without --from, or from {stage}."
        ) from None
    except (ValueError, TypeError, KeyError) as error:
        raise EngineError(f"{path}: damaged ({error}); remove it and run {stage} again") from None


def stage_outputs(work: str, stage: str) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the outputs of a stage, or none if it has not finished."""
    if not files.exists(result_path(work, stage)):
        return []
    return load_result(work, stage).outputs
