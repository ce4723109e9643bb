import hashlib
import json

import pytest

from corpusclean.cli.verify import show, verify_directory
from corpusclean.errors import RecipeError
from corpusclean.shards.manifest import build_manifest, publish_manifest


@pytest.fixture
def output(tmp_path):
    """An output folder without shards."""
    (tmp_path / "ledger.json").write_text('{"sources": {}}')
    sha256 = hashlib.sha256(b'{"sources": {}}').hexdigest()
    manifest = build_manifest(
        recipe={"name": "empty", "sha256": sha256},
        seed=0,
        tokenizer={
            "name": "t",
            "sha256": sha256,
            "vocabulary": 9,
            "eod_id": 0,
            "append_eod": True,
        },
        dtype="uint16",
        sequence_length=8,
        budget=1,
        sources={},
        shards=[],
        ledger_sha256=sha256,
    )
    publish_manifest(tmp_path, manifest)
    return tmp_path


def test_a_sound_output(output):
    result = verify_directory(output)
    assert result == {"ok": True, "shards": 0, "problems": []}
    assert show(result).startswith("0 shards verified")


def test_problems_are_rows(output):
    (output / "ledger.json").write_text('{"sources": {} }')
    (output / "shards").mkdir()
    (output / "shards" / "stray.bin").write_bytes(b"")
    result = verify_directory(output)
    assert not result["ok"]
    assert [p["path"] for p in result["problems"]] == ["ledger.json", "shards/stray.bin"]
    assert set(result["problems"][0]) == {"path", "problem", "expected", "found"}
    assert json.loads(json.dumps(result)) == result
    text = show(result)
    assert text.startswith("2 problems\n")
    assert "checksum (sha256)" in text


def test_no_folder_is_wrong_use(tmp_path):
    with pytest.raises(RecipeError, match="found no folder"):
        verify_directory(tmp_path / "none")
    assert verify_directory(tmp_path)["problems"][0]["path"] == "manifest.json"
