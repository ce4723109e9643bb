"""The quickstart does to every planted document what the table in sample_data/README.md says."""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "sample_data" / "README.md"

pytestmark = pytest.mark.slow


def planted() -> list[tuple[list[str], str]]:
    """Return the rows of the table: ids, and what happens."""
    table = README.read_text().split("## What is planted where")[1]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| `")]
    return [(re.findall(r"`([^`]+)`", ids), fate) for _, ids, _, fate in rows]


def command(*words: str) -> dict:
    """Run corpusclean and return its JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "corpusclean", *words, "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    """Run the quickstart once."""
    folder = tmp_path_factory.mktemp("quickstart")
    command("run", "pipelines/quickstart.yaml", "--output", str(folder), "--workers", "1")
    return folder


@pytest.fixture(scope="module")
def ledger(out) -> dict:
    return json.loads((out / "ledger.json").read_text())["sources"]


@pytest.fixture(scope="module")
def verdicts(out) -> dict[str, list[dict]]:
    """Return the rows of each id: kept, first reason, number of cuts, id of the kept like."""
    rows = command(
        "query",
        str(out),
        "SELECT d.id, d.uid, v.kept, v.reasons, len(v.cuts) AS cuts, v.duplicate_of "
        "FROM documents d JOIN verdicts v USING (part, row)",
    )["rows"]
    ids = {row["uid"]: row["id"] for row in rows}
    found = defaultdict(list)
    for row in rows:
        row["duplicate_of"] = ids.get(row["duplicate_of"])
        found[row["id"]].append(row)
    return found


def outcome(row: dict) -> str:
    return "kept" if row["kept"] else row["reasons"][0]


FATES = planted()
SINGLE = re.compile(r"`((?:anomalies|gopher_\w+|language|blocklist|contamination)\.\w+)`")


@pytest.mark.parametrize(("ids", "fate"), [row for row in FATES if SINGLE.match(row[1])])
def test_reasons(verdicts, ids, fate):
    assert [outcome(row) for i in ids for row in verdicts[i]] == [SINGLE.match(fate)[1]]


@pytest.mark.parametrize(("ids", "fate"), [row for row in FATES if row[1].startswith("kept")])
def test_kept(verdicts, ids, fate):
    pieces = {"two": 1, "three": 2}
    cuts = next((n for word, n in pieces.items() if f"in {word} pieces" in fate), 0)
    assert all(outcome(row) == "kept" and row["cuts"] == cuts for i in ids for row in verdicts[i])


@pytest.mark.parametrize(("ids", "fate"), [row for row in FATES if row[1].startswith("one kept")])
def test_groups_keep_one(verdicts, ids, fate):
    reason = re.search(r"`(duplicate\.\w+)`", fate)[1]
    counts = Counter(outcome(row) for i in ids for row in verdicts[i])
    assert counts["kept"] == 1
    assert set(counts) == {"kept", reason}


@pytest.mark.parametrize(("ids", "fate"), [row for row in FATES if "the others" in row[1]])
def test_families_keep_their_representative(verdicts, ids, fate):
    representative, *others = ids
    assert fate.startswith(f"`{representative}` kept")
    assert [outcome(row) for row in verdicts[representative]] == ["kept"]
    for other in others:
        (row,) = verdicts[other]
        assert outcome(row) == "duplicate.near"
        assert row["duplicate_of"] == representative


def test_chain_is_not_merged(verdicts):
    chain = {name: verdicts[f"chain-{name}"][0] for name in "abc"}
    assert {name: outcome(row) for name, row in chain.items()} == {
        "a": "kept",
        "b": "duplicate.near",
        "c": "kept",
    }
    assert chain["b"]["duplicate_of"] == "chain-a"


def test_cut_documents_that_are_dropped(ledger):
    expected = Counter(
        fate.strip("`") for ids, fate in FATES for _ in ids if fate.startswith("`cut.")
    )
    dropped = ledger["faults"]["dropped"]
    assert {name: n for name, n in dropped.items() if name.startswith("cut.")} == expected


def test_quarantine(ledger):
    causes = [re.search(r"quarantine: `(\w+)`", fate) for _, fate in FATES]
    expected = Counter(found[1] for found in causes if found)
    assert ledger["faults"]["quarantined"] == expected
    assert ledger["faults"]["blank"] == 2


def test_every_rule_of_the_quickstart_has_a_document(ledger):
    text = README.read_text()
    for name in ("anomalies", "gopher_quality", "gopher_repetition", "language"):
        rules = (ROOT / "filters" / f"{name}.yaml").read_text().split("\ndrop:\n")[1]
        for rule in re.findall(r"^  (\w+):", rules, re.MULTILINE):
            assert f"`{name}.{rule}`" in text
            assert any(f"{name}.{rule}" in source["dropped"] for source in ledger.values())


def test_mixture_repeats_one_source_and_leaves_some_of_another(out):
    sources = json.loads((out / "manifest.json").read_text())["sources"]
    epochs = {name: source["epochs"] for name, source in sources.items()}
    assert epochs["notes"] == pytest.approx(4)
    assert epochs["english"] > 1 > epochs["world"]


def test_shards_verify(out):
    report = command("verify", str(out))
    assert report["ok"]
    assert report["shards"] > 2
