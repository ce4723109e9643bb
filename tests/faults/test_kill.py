"""A kill at any moment loses nothing but time: the same command gives the same bytes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from outputs import same_bytes
from small_corpus import recipe_text, write_corpus, write_tokenizer


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("kill")
    write_corpus(folder, size=60)
    write_tokenizer(folder / "tokenizer.json")
    (folder / "recipe.yaml").write_text(recipe_text())
    return folder


def command(corpus: Path, output: Path) -> list[str]:
    recipe = str(corpus / "recipe.yaml")
    run = [sys.executable, "-m", "corpusclean", "run", recipe, "--output", str(output)]
    return [*run, "--workers", "2", "--quiet"]


@pytest.fixture(scope="module")
def undisturbed(corpus, tmp_path_factory) -> dict:
    output = tmp_path_factory.mktemp("undisturbed")
    subprocess.run(command(corpus, output), check=True, capture_output=True)
    return same_bytes(output)


def wait_for(pattern: str, output: Path, process: subprocess.Popen) -> None:
    """Wait until a file of the work folder matches, or the run has ended."""
    while process.poll() is None and not list((output / "work").glob(pattern)):
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("signalled", "moment"),
    [
        (signal.SIGKILL, "measure/parts/*"),
        (signal.SIGKILL, "select/decide/*.json"),
        (signal.SIGKILL, "tokenize/**/*.json"),
        (signal.SIGTERM, "select/verdicts/*"),
        (signal.SIGINT, "measure/parts/*"),
    ],
)
def test_killed_at(corpus, undisturbed, tmp_path, signalled, moment):
    process = subprocess.Popen(command(corpus, tmp_path), stderr=subprocess.PIPE)
    wait_for(moment, tmp_path, process)
    process.send_signal(signalled)
    _, messages = process.communicate(timeout=60)
    assert b"Traceback" not in messages
    assert not (tmp_path / "manifest.json").exists() or process.returncode == 0
    subprocess.run(command(corpus, tmp_path), check=True, capture_output=True)
    assert same_bytes(tmp_path) == undisturbed
    assert not [p for p in tmp_path.rglob("*.bin") if p.name.startswith(".")]


def workers_of(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, IndexError):
            continue
        if entry.name.isdigit() and int(fields[1]) == parent:
            found.append(int(entry.name))
    return found


def test_workers_end_with_a_killed_parent(corpus, tmp_path):
    process = subprocess.Popen(command(corpus, tmp_path), stderr=subprocess.DEVNULL)
    wait_for("measure/parts/*", tmp_path, process)
    workers = workers_of(process.pid)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(Path(f"/proc/{pid}").exists() for pid in workers):
        time.sleep(0.1)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


def test_a_killed_worker_is_replaced(corpus, undisturbed, tmp_path):
    process = subprocess.Popen(command(corpus, tmp_path), stderr=subprocess.PIPE)
    wait_for("measure/parts/*", tmp_path, process)
    for pid in workers_of(process.pid)[-1:]:
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert same_bytes(tmp_path) == undisturbed
