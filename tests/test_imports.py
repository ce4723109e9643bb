"""Who may import whom: the rooms of the house keep to their doors."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "corpusclean"
EVERYONE = {"errors", "files"}
DOMAIN = {
    "text",
    "signals",
    "rules",
    "dedup",
    "contamination",
    "mixture",
    "tokens",
    "training",
    "shards",
    "sources",
}
ALLOWED = {
    "errors": set(),
    "files": set(),
    "text": {"text"},
    "signals": {"signals", "text"},
    "dedup": {"dedup", "text"},
    "contamination": {"contamination", "text"},
    "tokens": {"tokens", "text"},
    "rules": {"rules", "signals", "recipe"},
    "mixture": {"mixture"},
    "shards": {"shards"},
    "training": {"training"},
    "sources": {"sources", "text"},
    "recipe": {"recipe", "rules", "mixture", "sources", "signals"},
    "ledger": {"ledger"},
    "engine": {"engine"},
    "stages": DOMAIN | {"stages", "engine", "recipe", "ledger"},
    "cli": DOMAIN | {"cli", "stages", "engine", "recipe", "ledger", "report", "training"},
}
MODULES = sorted(SOURCE.rglob("*.py"))


def room_of(module: Path) -> str:
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(module: Path) -> set[str]:
    """Return the full names of all modules that a file imports, at the top or inside functions."""
    names = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(SOURCE)))
def test_rooms_import_only_what_they_stand_on(module):
    room = room_of(module)
    if room in {"__init__", "__main__"}:
        return
    ours = [name for name in imported(module) if name.startswith("corpusclean.")]
    rooms = {name.split(".")[1] for name in ours}
    assert rooms <= ALLOWED[room] | EVERYONE


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(SOURCE)))
def test_beam_stays_at_the_edge(module):
    if any(name.split(".")[0] == "apache_beam" for name in imported(module)):
        assert room_of(module) in {"engine", "stages"}


def test_workers_do_not_import_beam():
    """Step functions run in worker processes, which need no Beam."""
    runner = {"corpusclean.engine.runner", "corpusclean.engine.transforms"}
    pipelines = {"measure.py", "select.py", "tokenize.py", "mix.py", "job.py"}
    for module in (SOURCE / "stages").glob("*.py"):
        if module.name not in pipelines:
            assert not any(n.rpartition(".")[0] in runner for n in imported(module)), module


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(SOURCE)))
def test_modules_stay_short(module):
    assert len(module.read_text().splitlines()) <= 400
