"""What the writers write, read by the tools that training uses, each in its own environment.

A test is skipped unless its variable names the Python of such an environment:

| variable | packages |
|---|---|
| CORPUSCLEAN_MDS_PYTHON | mosaicml-streaming, "numpy<2.2", "transformers<5", "xxhash<4" |
| CORPUSCLEAN_DATATROVE_PYTHON | datatrove[io,processing], torch |
| CORPUSCLEAN_OLMO_PYTHON | numpy; ai2-olmo-core to read through OLMo-core as well |
| CORPUSCLEAN_DATASETS_PYTHON | datasets |
"""

import json
import os
import subprocess
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from corpusclean import files
from corpusclean.shards.formats import FORMATS
from corpusclean.shards.manifest import shard_name
from corpusclean.shards.nanotron import metadata_text

HERE = Path(__file__).parent
EOD = 7
SHARDS = [
    [[5, 6, EOD], [9, EOD], [*list(range(200, 500)), EOD], [EOD]],
    [[1] * 70_000 + [EOD], [250, EOD]],
]
TOKENS = [list(chain(*shard)) for shard in SHARDS]


@pytest.fixture
def reader():
    """Return a function that runs a script of this folder and returns what it prints."""

    def run(variable: str, script: str, *arguments: object):
        python = os.environ.get(variable)
        if not python:
            pytest.skip(f"{variable} does not name the Python of an environment (see this file)")
        command = [python, str(HERE / script), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


def write(folder: Path, kind: str, dtype: str, **options):
    """Write the shards and return what the writers say of them."""
    infos = []
    for number, shard in enumerate(SHARDS):
        prefix = folder / shard_name("demo", number, len(SHARDS))
        with FORMATS[kind].writer(prefix, dtype, **options) as writer:
            for document in shard:
                writer.add_document(np.array(document, dtype))
        infos.append(writer.info)
    return infos


@pytest.mark.parametrize("dtype", ["uint16", "int32"])
@pytest.mark.parametrize("size_limit", [1 << 26, 100_000])
def test_streaming_dataset_reads_mds(tmp_path, reader, dtype, size_limit):
    infos = write(tmp_path, "mds", dtype, size_limit=size_limit)
    text = FORMATS["mds"].index_text(dtype, [(info.name, info.files) for info in infos])
    files.publish_bytes(tmp_path / "index.json", text.encode())
    found = reader("CORPUSCLEAN_MDS_PYTHON", "mds_reader.py", tmp_path, dtype)
    assert found["read"] == list(chain(*SHARDS))
    with FORMATS["mds"].writer(tmp_path / "all", dtype) as writer:
        for document in chain(*SHARDS):
            writer.add_document(np.array(document, dtype))
    assert (tmp_path / "all.00000.mds").read_bytes().hex() == found["written"]["shard.00000.mds"]
    ours = json.loads(FORMATS["mds"].index_text(dtype, [("all", writer.info.files)]))
    theirs = json.loads(bytes.fromhex(found["written"]["index.json"]))
    theirs["shards"][0]["raw_data"]["basename"] = "all.00000.mds"
    assert ours == theirs


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_datatrove_reads_ds(tmp_path, reader, dtype):
    write(tmp_path, "nanotron", dtype, tokenizer="gpt2")
    itemsize = np.dtype(dtype).itemsize
    found = reader("CORPUSCLEAN_DATATROVE_PYTHON", "datatrove_reader.py", tmp_path, itemsize, 8)
    windows = [t[i : i + 9] for t in TOKENS for i in range(0, len(t) - 8, 9)]
    assert found["read"] == windows
    assert found["positions"][0] == [0, 1, 2, 0, 1, 0, 1, 2, 3]
    first = shard_name("demo", 0, 2)
    for name, content in found["written"].items():
        assert (tmp_path / name).read_bytes().hex() == content, name
    assert sorted(found["written"]) == [f"{first}.ds{e}" for e in ("", ".index", ".metadata")]


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_olmo_reads_npy(tmp_path, reader, dtype):
    write(tmp_path, "olmo", dtype)
    found = reader("CORPUSCLEAN_OLMO_PYTHON", "olmo_npy.py", tmp_path, dtype, 8)
    assert found["read"] == list(chain(*SHARDS))
    if found["instances"] is not None:
        assert found["instances"]["dtype"] == dtype
        windows = [t[i : i + 8] for t in TOKENS for i in range(0, len(t) - 7, 8)]
        assert found["instances"]["input_ids"] == windows
        assert found["instances"]["documents"] == [spans(shard) for shard in SHARDS]


def spans(shard):
    ends = np.cumsum([len(document) for document in shard]).tolist()
    return [list(pair) for pair in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_datasets_reads_columns(tmp_path, reader, kind):
    write(tmp_path, kind, "int32")
    found = reader("CORPUSCLEAN_DATASETS_PYTHON", "datasets_reader.py", tmp_path, kind)
    rows = [{"input_ids": document} for document in chain(*SHARDS)]
    assert found["read"] == rows
    assert found["streamed"] == rows
    assert "int32" in found["features"]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(5, "5.00 T"), (999, "999 T"), (1500, "1.50 kT"), (12_345_678, "12.3 MT"), (0, "0.00 T")],
)
def test_metadata_for_people(tokens, expected):
    assert metadata_text("t", 2, tokens) == f"t|2\n{tokens}\n{expected}"
