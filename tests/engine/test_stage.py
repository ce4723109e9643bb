"""A stage end to end: tasks, the reference shuffle, receipts, deaths and errors."""

import io
import json
from pathlib import Path

import engine_functions
import pytest

from corpusclean.engine.pool import WorkerPool
from corpusclean.engine.progress import Progress
from corpusclean.engine.results import StageResult
from corpusclean.engine.runner import Stage
from corpusclean.engine.steps import Step
from corpusclean.errors import EngineError, InputError

RUNNER = ["--runner=FnApiRunner"]


@pytest.fixture(scope="module")
def pool():
    with WorkerPool(2, Progress(io.StringIO())) as pool:
        yield pool


def run_stage(work: Path, numbers: dict[str, int], **settings) -> StageResult:
    shape = str(settings.get("shape", ""))
    scatter = Step("demo/scatter", engine_functions.scatter, settings, str(work), shape)
    gather = Step("demo/gather", engine_functions.gather, settings, str(work), "")
    with Stage("demo", str(work), RUNNER) as stage:
        start = stage.start(("scatter", key, ("", value)) for key, value in numbers.items())
        stage.do("Gather", gather, stage.do("Scatter", scatter, start))
    return stage.result


def sums(work: Path, result: StageResult) -> dict[str, int]:
    return {key: int((work / item[0]).read_text()) for key, item in result.outputs}


NUMBERS = {"a": 1, "b": 2, "c": 3}


def test_shuffle_brings_rows_to_their_task(pool, tmp_path):
    result = run_stage(tmp_path, NUMBERS)
    assert sums(tmp_path, result) == {"even": 20 + 90 + 60, "odd": 25 + 75}
    assert result.account.documents == 32
    assert result.account.counts == {"sources": {"a": {"kept": 30}}}


def test_stage_without_tasks(pool, tmp_path):
    result = run_stage(tmp_path, {})
    assert result.outputs == []
    assert result.account.parts == 0


def test_without_a_pool_tasks_are_done_here(tmp_path, monkeypatch):
    monkeypatch.setattr("corpusclean.engine.pool._pool", None)
    assert sums(tmp_path, run_stage(tmp_path, NUMBERS)) == {"even": 170, "odd": 100}


def test_rerun_reuses_everything(pool, tmp_path):
    first = run_stage(tmp_path, NUMBERS)
    again = run_stage(tmp_path, NUMBERS)
    assert again.outputs == first.outputs
    assert again.account.parts_reused == again.account.parts == 5
    assert again.account.counts == first.account.counts


@pytest.mark.parametrize(
    ("damage", "reused"),
    [
        (lambda work: (work / "demo/scatter/b.json").unlink(), 4),
        (lambda work: (work / "demo/scatter/b.json").write_text("{"), 4),
        (lambda work: (work / "demo/scatter/b.rows").unlink(), 4),
        (lambda work: (work / "demo/gather/odd.sum").write_text("12"), 4),
    ],
)
def test_only_what_is_missing_is_done_again(pool, tmp_path, damage, reused):
    first = sums(tmp_path, run_stage(tmp_path, NUMBERS))
    damage(tmp_path)
    again = run_stage(tmp_path, NUMBERS)
    assert sums(tmp_path, again) == first
    assert again.account.parts_reused == reused


def test_a_changed_fingerprint_is_done_again(pool, tmp_path):
    run_stage(tmp_path, NUMBERS, shape="1")
    again = run_stage(tmp_path, NUMBERS, shape="2")
    # The blocks come out the same, so the gathering tasks have nothing to do.
    assert again.account.parts_reused == 2


@pytest.mark.parametrize("times", [1, 2])
def test_a_dead_worker_is_replaced(pool, tmp_path, times):
    log = tmp_path / "log"
    log.mkdir()
    result = run_stage(tmp_path, NUMBERS, log=str(log), dies="b", times=times)
    assert sums(tmp_path, result) == {"even": 170, "odd": 100}
    assert (log / "deaths").read_text() == str(times)


def test_a_task_that_kills_its_worker_is_named(pool, tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    with pytest.raises(EngineError, match="died 3 times at b"):
        run_stage(tmp_path, NUMBERS, log=str(log), dies="b", times=99)
    tried = [name for name in log.iterdir() if name.name.startswith("b-")]
    assert len(tried) == 3
    assert sums(tmp_path, run_stage(tmp_path, NUMBERS)) == {"even": 170, "odd": 100}


def test_our_errors_pass_through_unchanged(pool, tmp_path):
    with pytest.raises(InputError) as caught:
        run_stage(tmp_path, NUMBERS, fails="b")
    assert str(caught.value) == "the input is bad"


def test_a_defect_names_step_and_task(pool, tmp_path):
    with pytest.raises(EngineError, match="demo/scatter: task b failed: ZeroDivisionError"):
        run_stage(tmp_path, NUMBERS, crashes="b")


def test_no_temporary_file_stays(pool, tmp_path):
    run_stage(tmp_path, NUMBERS)
    assert [p for p in tmp_path.rglob("*") if p.name.endswith(".tmp")] == []


def test_receipts_name_files_inputs_and_times(pool, tmp_path):
    run_stage(tmp_path, NUMBERS)
    receipt = json.loads((tmp_path / "demo/scatter/a.json").read_text())
    assert receipt["files"] == {"demo/scatter/a.rows": 80}
    assert receipt["documents"] == 10
    assert {"fingerprint", "host", "process", "wall_seconds", "peak_rss_bytes"} <= set(receipt)
