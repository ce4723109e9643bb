import json
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpusclean.shards import reading
from corpusclean.shards.verify import verify_output

EOD = 7
FIRST = "demo-00000-of-00003"
FILES = [
    "manifest.json",
    "ledger.json",
    f"shards/{FIRST}.bin",
    f"shards/{FIRST}.idx",
    f"provenance/{FIRST}.parquet",
]
PUBLISHED = [
    "ledger.json",
    "manifest.json",
    "manifest.json.sha256",
    *(f"provenance/demo-0000{i}-of-00003.parquet" for i in range(3)),
    *(f"shards/demo-0000{i}-of-00003.{e}" for i in range(3) for e in ("bin", "idx")),
]


def problems(directory):
    report = verify_output(directory)
    assert report.ok == (not report.problems)
    return report.problems


def paths(directory):
    return {problem.path for problem in problems(directory)}


def one(directory):
    found = problems(directory)
    assert len(found) == 1, found
    return found[0]


def test_a_sound_output(output):
    report = verify_output(output.directory)
    assert (report.ok, report.shards, report.problems) == (True, 3, [])
    listed = [p for p in output.directory.rglob("*") if p.is_file()]
    assert sorted(p.relative_to(output.directory).as_posix() for p in listed) == PUBLISHED


@pytest.mark.parametrize("dtype", ["uint16", "int32"])
@pytest.mark.parametrize("block", [4, 8, 1 << 24])
def test_blocks_may_end_anywhere(output, monkeypatch, dtype, block):
    monkeypatch.setattr(reading, "BLOCK", block)
    output.publish(dtype=dtype)
    assert problems(output.directory) == []


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_changed_byte_is_found_and_its_file_named(output, name):
    path = output.directory / name
    sound = path.read_bytes()
    step = max(1, len(sound) // 40)
    for at in range(0, len(sound), step):
        for flip in (1, 0x80):
            path.write_bytes(sound[:at] + bytes([sound[at] ^ flip]) + sound[at + 1 :])
            named = "manifest.json" if name.endswith("sha256") else name
            assert named in paths(output.directory), (at, flip)


@settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_damage_is_never_an_exception(tmp_path_factory, output, data):
    directory = tmp_path_factory.mktemp("damaged") / "out"
    shutil.copytree(output.directory, directory)
    try:
        name = data.draw(st.sampled_from(PUBLISHED))
        path = directory / name
        content = path.read_bytes()
        kind = data.draw(st.sampled_from(["cut", "grow", "insert", "swap", "garbage", "delete"]))
        at = data.draw(st.integers(0, len(content) - 1))
        junk = data.draw(st.binary(min_size=1, max_size=40))
        damaged = {
            "cut": content[:at],
            "grow": content + junk,
            "insert": content[:at] + junk + content[at:],
            "swap": content[at:] + content[:at],
            "garbage": junk,
            "delete": b"",
        }[kind]
        if kind == "delete":
            path.unlink()
        else:
            path.write_bytes(damaged)
        if damaged != content:
            named = {name, "manifest.json"} if name.endswith("sha256") else {name}
            assert named & paths(directory)
    finally:
        shutil.rmtree(directory)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(output, name):
    (output.directory / name).unlink()
    problem = one(output.directory)
    assert (problem.path, problem.problem, problem.found) == (name, "missing", "none")


@pytest.mark.parametrize("name", FILES)
def test_a_folder_instead_of_a_file(output, name):
    (output.directory / name).unlink()
    (output.directory / name).mkdir()
    assert one(output.directory).path == name


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", [lambda d: d[:-1], lambda d: d + b"\n", lambda d: b""])
def test_another_size(output, name, change):
    path = output.directory / name
    path.write_bytes(change(path.read_bytes()))
    assert paths(output.directory) == {name}


def test_files_that_the_manifest_does_not_name(output):
    for name in ("shards/x.bin", "provenance/old.parquet", "shards/.s.bin.0a.tmp", "run.json"):
        (output.directory / name).write_bytes(b"")
    assert paths(output.directory) == {"shards/x.bin", "provenance/old.parquet"}


def test_only_the_recipe_checksum_changed(output):
    path = output.directory / "manifest.json"
    path.write_text(path.read_text().replace("ab" * 32, "ac" * 32))
    assert one(output.directory).path == "manifest.json"


def test_other_text_of_the_same_data(output):
    manifest = json.loads((output.directory / "manifest.json").read_text())
    (output.directory / "manifest.json").write_text(json.dumps(manifest))
    assert {p.problem for p in problems(output.directory)} >= {"text"}


@pytest.mark.parametrize(
    ("pieces", "name", "problem"),
    [
        ([((1, 1), 0, 0, 0, [5, 50, EOD])], "bin", "id of token 1"),
        ([((1, 1), 0, 0, 0, [5, 6, EOD, 6])], "bin", "last token of the shard"),
        (
            [((1, 1), 0, 0, 0, [5]), ((2, 2), 0, 0, 0, [EOD])],
            "bin",
            "last token of a document (token 0)",
        ),
        (
            [((1, 1), 0, 0, 0, [5]), ((1, 1), 0, 1, 0, [EOD])],
            "bin",
            "last token of a document (token 0)",
        ),
        (
            [((1, 1), 0, 0, 1, [5, EOD])],
            "parquet",
            "row 0 starts within a document that it does not continue",
        ),
        (
            [((1, 1), 0, 0, 0, [5, EOD]), ((1, 1), 0, 0, 3, [EOD])],
            "parquet",
            "row 1 starts within a document that it does not continue",
        ),
    ],
)
def test_wrong_tokens_under_right_checksums(output, pieces, name, problem):
    shutil.rmtree(output.directory / "shards")
    shutil.rmtree(output.directory / "provenance")
    output.publish([pieces])
    found = one(output.directory)
    assert found.path.endswith(name)
    assert found.problem == problem


def test_negative_ids(output):
    pieces = [[((1, 1), 0, 0, 0, [5, -1, EOD])]]
    for folder in ("shards", "provenance"):
        shutil.rmtree(output.directory / folder)
    output.publish(pieces, dtype="int32")
    found = one(output.directory)
    assert (found.problem, found.expected, found.found) == ("id of token 1", "0 to 49", "-1")


def test_without_eod_any_last_token_will_do(output):
    pieces = [[((1, 1), 0, 0, 0, [5, 6])], [((2, 2), 0, 0, 0, [5])]]
    for folder in ("shards", "provenance"):
        shutil.rmtree(output.directory / folder)
    output.publish(pieces, append_eod=False, eod_id=None)
    assert problems(output.directory) == []


def test_a_document_does_not_go_on_into_another_split(output):
    output.publish(splits=["train", "train", "validation"])
    found = one(output.directory)
    assert found.path == "provenance/demo-00002-of-00003.parquet"
    assert "starts within a document" in found.problem


def test_an_unreadable_neighbour_is_the_only_problem(output):
    (output.directory / "provenance/demo-00001-of-00003.parquet").write_bytes(b"")
    assert paths(output.directory) == {"provenance/demo-00001-of-00003.parquet"}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ({"shard": 1}, "shard of row 0 is not 0"),
        ({"tokens": np.array([3, 0])}, "row 1 has no tokens"),
        ({"tokens": np.array([2, 2])}, "row 1 does not start where the row before it stops"),
        ({"tokens": np.array([3, 3])}, "row 1 reaches past its sequence"),
        ({"tokens": np.array([3, 1])}, "tokens covered"),
        ({"sequence": np.array([0, 2])}, "row 1 names a sequence that is not there"),
        ({"sequence": np.array([0, -1])}, "row 1 names a sequence that is not there"),
        ({"start": np.array([1, 0])}, "row 0 does not start where the row before it stops"),
        ({"copy": np.array([-1, 0])}, "row 0 has a negative number"),
        ({"document_start": np.array([0, -5])}, "row 1 has a negative number"),
    ],
)
def test_wrong_provenance_under_right_checksums(output, rows, problem):
    output.publish(provenance={0: rows})
    found = [p for p in problems(output.directory) if p.path.startswith("provenance")]
    assert [p.problem for p in found] == [problem]
    assert found[0].path == f"provenance/{FIRST}.parquet"


def test_documents_and_sources_are_counted_again(output):
    output.publish(provenance={0: {"copy": np.array([1, 0])}})
    found = {(p.path, p.problem): (p.expected, p.found) for p in problems(output.directory)}
    assert found == {
        ("manifest.json", "sources.web.documents, against provenance"): ("1", "2"),
        ("ledger.json", "web: emitted, against provenance"): ("1", "2"),
    }
    output.publish(provenance={0: {"sources": ["web", "prose"]}})
    assert ("source in provenance", "prose") in {
        (p.problem, p.found) for p in problems(output.directory)
    }


def set_in(*keys, value):
    def change(data):
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (set_in("tokens", "emitted", value=17), "tokens.emitted"),
        (set_in("sources", "web", "ratio_emitted", value=0.5), "sources.web.ratio_emitted"),
        (set_in("sources", "web", "epochs", value=1), "sources.web.epochs"),
        (set_in("sources", "web", "tokens_emitted", value=1), "tokens emitted by all sources"),
        (set_in("shards", 0, "tokens", value=0), "shards[0].tokens"),
        (set_in("shards", 0, "path", value="shards/demo-00001-of-00003"), "different paths"),
        (set_in("version", value=2), "version"),
        (set_in("shards", value={}), "shards"),
        (set_in("shards", 0, value=3), "shards[0].path"),
        (set_in("shards", 0, "path", value="/etc/passwd"), "shards[0].path"),
        (set_in("shards", 0, "path", value="../x"), "shards[0].path"),
        (set_in("shards", 0, "sha256", value="AB"), "shards[0].sha256"),
        (set_in("shards", 0, "split", value="test"), "shards[0].split"),
        (set_in("shards", 0, "provenance", value=None), "shards[0].provenance"),
        (set_in("sources", "web", value=[]), "sources.web.ratio_target"),
        (set_in("tokenizer", "eod_id", value=None), "tokenizer.eod_id"),
        (set_in("tokenizer", "vocabulary", value=True), "tokenizer.vocabulary"),
        (set_in("dtype", value="float32"), "dtype"),
    ],
)
def test_a_manifest_that_contradicts_itself(output, change, problem):
    output.publish(change_manifest=change)
    found = [p for p in problems(output.directory) if p.path == "manifest.json"]
    assert any(p.problem.startswith(problem) for p in found), found


@pytest.mark.parametrize("text", ["[]", "3", "{}", "nul", "[" * 100_000, '{"version": 1}', "\xff"])
def test_a_manifest_that_is_none(output, text):
    (output.directory / "manifest.json").write_bytes(text.encode("latin-1"))
    assert paths(output.directory) == {"manifest.json"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (set_in("web", "read", value=11), "web: kept + dropped + quarantined = read"),
        (set_in("web", "unused", value=0), "web: emitted + unused = kept"),
        (set_in("web", "kept", value=None), "not a ledger"),
        (set_in("web", "dropped", value=[]), "not a ledger"),
        (set_in("web", value="x"), "not a ledger"),
        (lambda sources: sources.pop("web"), "sources"),
        (lambda sources: sources["web"].pop("emitted"), "not a ledger"),
    ],
)
def test_a_ledger_that_does_not_balance(output, change, problem):
    output.publish(change_ledger=change)
    found = [p for p in problems(output.directory) if p.path == "ledger.json"]
    assert problem in {p.problem for p in found}


def test_the_ledger_and_provenance_disagree(output):
    def change(sources):
        sources["web"]["emitted"], sources["web"]["unused"] = 3, 3

    output.publish(change_ledger=change)
    found = one(output.directory)
    assert (found.path, found.problem, found.expected, found.found) == (
        ("ledger.json", "web: emitted, against provenance", "2", "3")
    )


def test_no_folder_at_all(tmp_path):
    assert one(tmp_path / "none").path == "manifest.json"


def test_an_output_without_shards(output):
    for folder in ("shards", "provenance"):
        shutil.rmtree(output.directory / folder)
    output.publish([])
    assert problems(output.directory) == []
