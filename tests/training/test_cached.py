"""Orders from Megatron's cache; that the files look so is checked against megatron-core itself."""

import hashlib
import json

import numpy as np
import pytest

from corpusclean.errors import InputError, RecipeError
from corpusclean.training import blend_order
from corpusclean.training.data import load_output
from corpusclean.training.order import MegatronOrder
from corpusclean.training.supply import megatron_supply
from corpusclean.training.trace import open_training, trace, trace_document

SHARDS = [np.random.default_rng(i).integers(1, 60, 80).tolist() for i in range(3)]


def save(folder, kind, description, **arrays):
    text = json.dumps(description, indent=4)
    base = f"{hashlib.md5(text.encode()).hexdigest()}-{kind}-train"
    (folder / f"{base}-description.txt").write_text(text)
    for name, array in arrays.items():
        np.save(folder / f"{base}-{name}.npy", array)


def cache(output, folder, seed=17, blend=True):
    """Write the index files of a training on an output, as megatron-core does."""
    folder.mkdir()
    loaded = load_output(output.directory)
    supply = megatron_supply(loaded)
    order = MegatronOrder(loaded, supply.shards, supply.samples, seed)
    datasets = []
    for place, shard in enumerate(supply.shards[: None if blend else 1]):
        indices = order.indices(place)
        datasets.append(
            {
                "class": "GPTDataset",
                "dataset_path": f"/somewhere/else/{shard.path}",
                "num_samples": 10 + place,
                "index_split": "train",
                "random_seed": seed,
                "sequence_length": loaded.sequence_length,
            }
        )
        save(
            folder,
            "GPTDataset",
            datasets[-1],
            document_index=indices.document_index,
            sample_index=indices.sample_index,
            shuffle_index=indices.shuffle_index,
        )
    if blend:
        weights = [shard.tokens for shard in supply.shards]
        dataset_index, dataset_sample_index = blend_order(weights, supply.samples)
        save(
            folder,
            "BlendedDataset",
            {"class": "BlendedDataset", "datasets": datasets, "split": "train"},
            dataset_index=dataset_index,
            dataset_sample_index=dataset_sample_index,
        )
    return folder


@pytest.mark.parametrize("seed", [17, 99])
def test_the_files_are_read_as_they_are(publish, tmp_path, seed):
    output = publish(SHARDS)
    folder = cache(output, tmp_path / "cache", seed)
    found = trace(output.directory, range(1, 9), global_batch=4, indices=folder)
    computed = trace(output.directory, range(1, 9), global_batch=4, order="megatron")
    assert (found == computed) == (seed == 17)
    uid = found[5]["uid"]
    expected = [entry for entry in found if entry["uid"] == uid]
    again = trace_document(output.directory, uid, global_batch=4, indices=folder)
    assert [entry for entry in again if entry["step"] <= 8] == expected


def test_one_dataset_without_a_blend(publish, tmp_path):
    output = publish(SHARDS)
    folder = cache(output, tmp_path / "cache", blend=False)
    training = open_training(output.directory, global_batch=1, indices=folder)
    assert {
        e["shard"] for e in trace(output.directory, [1, 2], global_batch=1, indices=folder)
    } == {0}
    assert training.order.samples == len(training.order.indices(0).shuffle_index)
    uid = trace(output.directory, 1, global_batch=1, indices=folder)[0]["uid"]
    assert trace_document(output.directory, uid, global_batch=1, indices=folder)


def test_a_cache_that_does_not_fit(publish, tmp_path):
    output = publish(SHARDS)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="of 0 trainings"):
        trace(output.directory, 1, global_batch=1, indices=tmp_path / "empty")
    folder = cache(output, tmp_path / "cache")
    with pytest.raises(RecipeError, match="found seed 17, asked for 18"):
        trace(output.directory, 1, global_batch=1, indices=folder, seed=18)
    for index in folder.glob("*GPTDataset*shuffle_index.npy"):
        index.write_bytes(b"no array")
    with pytest.raises(InputError, match=r"shuffle_index\.npy: no readable index"):
        trace(output.directory, 1, global_batch=1, indices=folder)
    for index in folder.glob("*BlendedDataset*description.txt"):
        index.write_text(index.read_text().replace("demo-00001", "other-00001"))
    with pytest.raises(RecipeError, match="which is no training shard"):
        trace(output.directory, 1, global_batch=1, indices=folder)
