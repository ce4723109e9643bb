"""Verification of outputs in every format; what Megatron's has of its own is in test_verify."""

import json
import shutil

import pytest

from corpusclean import files
from corpusclean.errors import ShardError
from corpusclean.shards.manifest import files_of, publish_manifest
from corpusclean.shards.verify import verify_output

EOD = 7
OUTPUTS = [
    ("megatron", "uint16", {}),
    ("mds", "uint16", {}),
    ("mds", "int32", {"size_limit": 250}),
    ("nanotron", "uint16", {"tokenizer": "demo"}),
    ("nanotron", "uint32", {}),
    ("olmo", "uint8", {}),
    ("parquet", "int32", {}),
    ("arrow", "int32", {}),
]


@pytest.fixture(params=OUTPUTS, ids=lambda p: f"{p[0]}-{p[1]}")
def made(request, output):
    """An output in one format; `made.publish(...)` writes it anew in the same."""
    kind, dtype, options = request.param
    publish = output.publish

    def again(*shards, **changes):
        for folder in ("shards", "provenance"):
            shutil.rmtree(output.directory / folder, ignore_errors=True)
        return publish(*shards, kind=kind, dtype=dtype, options=options, **changes)

    output.publish, output.kind = again, kind
    output.manifest = again()
    return output


def problems(directory):
    report = verify_output(directory)
    assert report.ok == (not report.problems)
    return report.problems


def paths(directory):
    return {problem.path for problem in problems(directory)}


def published(output):
    """Return the paths of the files of shards and of their indexes."""
    names = [index["path"] for index in output.manifest["indexes"]]
    for shard in output.manifest["shards"]:
        names += [shard["path"] + file.suffix for file in files_of(shard)]
    return names


def test_a_sound_output(made):
    report = verify_output(made.directory)
    assert (report.ok, report.shards, report.problems) == (True, 3, [])
    listed = [p for p in (made.directory / "shards").iterdir() if p.is_file()]
    assert sorted(f"shards/{p.name}" for p in listed) == sorted(published(made))
    assert made.manifest["format"] == made.kind


def test_every_changed_byte_is_found_and_its_file_named(made):
    for name in published(made):
        path = made.directory / name
        sound = path.read_bytes()
        for at in range(0, len(sound), max(1, len(sound) // 12)):
            path.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
            assert paths(made.directory) == {name}, at
        for other in (sound[:-1], sound + b"\0", b""):
            path.write_bytes(other)
            assert paths(made.directory) == {name}
        path.unlink()
        (problem,) = problems(made.directory)
        assert (problem.path, problem.problem) == (name, "missing")
        path.write_bytes(sound)


def test_files_that_the_manifest_does_not_name(made):
    (made.directory / "shards" / "x.bin").write_bytes(b"")
    assert paths(made.directory) == {"shards/x.bin"}


@pytest.mark.parametrize(
    ("pieces", "problem"),
    [
        ([((1, 1), 0, 0, 0, [5, 50, EOD])], "id of token 1"),
        ([((1, 1), 0, 0, 0, [5, 6, EOD, 6])], "last token of the shard"),
        (
            [((1, 1), 0, 0, 0, [5]), ((2, 2), 0, 0, 0, [EOD])],
            "last token of a document (token 0)",
        ),
    ],
)
def test_wrong_tokens_under_right_checksums(made, pieces, problem):
    made.publish([pieces])
    (found,) = problems(made.directory)
    assert found.problem == problem
    assert found.path in published(made) or found.path.startswith("shards/demo-00000-of-00001.")


def test_lengths_are_compared_with_provenance(made):
    pieces = [((1, 1), 0, 0, 0, [5, 6, EOD]), ((2, 2), 0, 0, 0, [EOD])]
    made.publish([pieces], provenance={0: {"tokens": [2, 2]}})
    assert "row 1 does not start where the row before it stops" in {
        problem.problem for problem in problems(made.directory)
    }


def test_lengths_are_compared_with_the_manifest(made):
    def change(manifest):
        manifest["shards"][0]["documents"] = 9

    made.publish(change_manifest=change)
    (found,) = problems(made.directory)
    assert (found.problem, found.expected, found.found) == ("documents", "9", "2")


def test_a_format_that_is_another(made):
    other = "nanotron" if made.kind != "nanotron" else "olmo"

    def change(manifest):
        manifest["format"] = other

    made.publish(change_manifest=change)
    assert paths(made.directory) == {"manifest.json"}


def in_file(**changes):
    return lambda manifest: manifest["shards"][0]["files"][0].update(changes)


@pytest.mark.parametrize(
    ("kind", "change", "where"),
    [
        ("nanotron", in_file(suffix=".bin"), "shards[0].files"),
        ("nanotron", in_file(suffix="/../../x"), "shards[0].files"),
        ("nanotron", in_file(suffix=3), "shards[0].files[0].suffix"),
        ("nanotron", in_file(sha256="x"), "shards[0].files[0].sha256"),
        ("nanotron", in_file(bytes=1), "shards[0].bytes"),
        ("nanotron", in_file(colour="red"), "shards[0].files[0]"),
        ("mds", in_file(sequences=None), "shards[0].files[0].sequences"),
        ("mds", in_file(suffix=".00001.mds"), "shards[0].files"),
        ("mds", lambda m: m["shards"][0].update(files=[], bytes=0), "shards[0].files"),
        ("mds", lambda m: m["shards"][0].update(files=3), "shards[0].files"),
        ("mds", lambda m: m["shards"][0].update(files=[3]), "shards[0].files[0].suffix"),
        ("mds", lambda m: m.update(indexes=[]), "indexes"),
        ("mds", lambda m: m.update(indexes=[3]), "indexes[0].path"),
        ("mds", lambda m: m["indexes"][0].update(path="/x"), "indexes[0].path"),
        ("nanotron", lambda m: m.update(dtype="int32"), "dtype"),
        ("nanotron", lambda m: m.update(format="tfrecord"), "format"),
        ("nanotron", lambda m: m.update(format=[]), "format"),
    ],
)
def test_a_manifest_that_contradicts_itself(output, kind, change, where):
    output.publish(kind=kind, change_manifest=change)
    found = [p for p in problems(output.directory) if p.path == "manifest.json"]
    assert where in {problem.problem for problem in found}, found


def test_samples_of_an_mds_file_are_counted(output):
    def change(manifest):
        manifest["shards"][0]["files"][0]["sequences"] = 5

    output.publish(kind="mds", change_manifest=change)
    named = {(p.path, p.problem, p.expected, p.found) for p in problems(output.directory)}
    assert ("shards/demo-00000-of-00003.00000.mds", "sequences", "5", "2") in named


def test_an_index_of_other_shards(output):
    manifest = output.publish(kind="mds")
    path = output.directory / "shards/index.json"
    path.write_text(path.read_text().replace("demo-00001", "demo-00002"))
    manifest["indexes"][0]["sha256"] = files.sha256(path)
    publish_manifest(output.directory, manifest)
    found = [p for p in problems(output.directory) if p.path == "shards/index.json"]
    assert [problem.problem for problem in found] == ["content"]


def test_splits_of_mds_need_folders_of_their_own(output):
    splits = ["train", "train", "validation"]
    pieces = [[((i, i), 0, 0, 0, [5, EOD])] for i in range(1, 4)]
    with pytest.raises(ShardError, match="a folder for each"):
        output.publish(pieces, kind="mds", splits=splits)
    for folder in ("shards", "provenance"):
        shutil.rmtree(output.directory / folder)
    manifest = output.publish(
        pieces,
        kind="mds",
        splits=splits,
        folder="shards/{split}",
        change_ledger=lambda sources: sources["web"].update(emitted=3, unused=3),
    )
    assert [index["path"] for index in manifest["indexes"]] == [
        "shards/train/index.json",
        "shards/validation/index.json",
    ]
    assert problems(output.directory) == []
    names = json.loads((output.directory / "shards/validation/index.json").read_text())["shards"]
    assert [n["raw_data"]["basename"] for n in names] == ["demo-00002-of-00003.00000.mds"]
    (output.directory / "shards/train/x.mds").write_bytes(b"")
    assert paths(output.directory) == {"shards/train/x.mds"}
