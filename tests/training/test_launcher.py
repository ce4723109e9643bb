import argparse
import json

import pytest
from ruamel.yaml import YAML

from corpusclean.errors import RecipeError
from corpusclean.training.launcher import check_split, launcher_files, launcher_plan
from corpusclean.training.settings import BatchRamp, TrainingSettings, ramp_of_tokens

SHARDS = [[100] * 20, [90] * 20, [95] * 21]
SETTINGS = TrainingSettings(global_batch=8, ramp=BatchRamp(2, 2, 40), learning_rate=6e-5)


def parser():
    """The published options of Megatron's training script that the files may use."""
    options = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
    for name in ("data-path", "train-data-path", "valid-data-path"):
        options.add_argument(f"--{name}", nargs="*")
    options.add_argument("--rampup-batch-size", nargs="*")
    for name in (
        *("seed", "seq-length", "max-position-embeddings", "micro-batch-size"),
        *("global-batch-size", "train-samples", "lr-decay-samples", "lr-warmup-samples"),
        *("eval-interval", "eval-iters"),
    ):
        options.add_argument(f"--{name}", type=int)
    for name in ("lr", "min-lr", "clip-grad", "weight-decay", "adam-beta1", "adam-beta2"):
        options.add_argument(f"--{name}", type=float)
    options.add_argument("--split", type=str)
    options.add_argument("--lr-decay-style", choices=["constant", "linear", "cosine"])
    options.add_argument("--dataloader-type", choices=["single", "cyclic", "external"])
    options.add_argument(
        "--tokenizer-type", choices=["HuggingFaceTokenizer", "PretrainedFromHF"], required=True
    )
    options.add_argument("--tokenizer-model")
    options.add_argument("--tokenizer-name-or-path")
    return options


def blend(words):
    """Return (prefixes, weights) of a data path, by Megatron's grammar."""
    assert len(words) % 2 == 0
    return words[1::2], [float(weight) for weight in words[::2]]


@pytest.mark.parametrize("name", ["megatron.args", "mindspeed.args"])
def test_argument_files_parse_back(publish, name):
    output = publish(SHARDS)
    text = launcher_files(output.manifest, SETTINGS)[name]
    found = parser().parse_args(text.split())
    plan = launcher_plan(output.manifest, SETTINGS)
    prefixes, weights = blend(found.data_path)
    assert prefixes == [shard["path"] for shard in output.manifest["shards"]]
    assert weights == [shard["tokens"] for shard in output.manifest["shards"]]
    assert (found.split, found.seed, found.seq_length) == ("100,0,0", 17, 8)
    assert found.rampup_batch_size == ["2", "2", "40"]
    assert found.global_batch_size == 8
    assert found.train_samples == found.lr_decay_samples == plan["samples"]
    assert (found.lr, found.min_lr) == (6e-5, pytest.approx(6e-6))
    assert (found.clip_grad, found.weight_decay, found.eval_iters) == (1.0, 0.1, 0)
    assert found.lr_warmup_samples < found.train_samples


def test_samples_are_whole_batches(publish):
    output = publish(SHARDS)
    plan = launcher_plan(output.manifest, SETTINGS)
    sizes = {s["from_step"]: s["sequences"] for s in plan["global_batch"]}
    consumed, size = 0, 0
    for step in range(1, plan["steps"] + 1):
        size = sizes.get(step, size)
        consumed += size
    assert consumed == plan["samples"] == plan["tokens"] // 8
    assert plan["unread_tokens"] == sum(map(sum, SHARDS)) - plan["tokens"]
    assert plan["unread_tokens"] < 0.02 * plan["tokens"]


def test_validation_has_paths_of_its_own(publish):
    output = publish([*SHARDS, [60] * 5], splits=["train"] * 3 + ["validation"])
    texts = launcher_files(output.manifest, SETTINGS)
    found = parser().parse_args(texts["megatron.args"].split())
    assert (found.data_path, found.split) == (None, None)
    assert blend(found.train_data_path)[0] == [s["path"] for s in output.manifest["shards"][:3]]
    assert blend(found.valid_data_path) == ([output.manifest["shards"][3]["path"]], [300])
    assert found.eval_iters == 300 // 64
    # Its loader would read a folder whole, the validation shards with it.
    assert "nanotron.yaml" not in texts


def test_validation_in_shards_that_no_blend_can_draw_from(publish):
    output = publish([*SHARDS, [60], [3]], splits=["train"] * 3 + ["validation"] * 2)
    with pytest.raises(RecipeError, match="hold out more tokens"):
        launcher_plan(output.manifest, SETTINGS)


@pytest.mark.parametrize(
    ("split", "said"),
    [
        ("969,30,1", "leaves a part of shards/demo-00000-of-00003"),
        ("90,10,0", "takes from what the mixture gives"),
        ("0,100,0", "takes from what the mixture gives"),
        ("a,b", "expected up to three shares"),
        ("1,2,3,4", "expected up to three shares"),
        ("0,0,0", "expected up to three shares"),
        ("-1,2,0", "expected up to three shares"),
    ],
)
def test_other_splits_are_refused(publish, split, said):
    output = publish(SHARDS)
    with pytest.raises(RecipeError, match=said):
        launcher_files(output.manifest, TrainingSettings(8, split=split))


def test_splits_that_take_nothing():
    for split in ("100,0,0", "1", "1,0", "0.5,0,0"):
        check_split(split, {"a": 1, "b": 10})


def test_a_training_without_a_whole_step_is_refused(publish):
    output = publish(SHARDS)
    with pytest.raises(RecipeError, match="at least one batch of 10,000"):
        launcher_plan(output.manifest, TrainingSettings(10_000))


def test_a_path_with_a_space_is_refused(publish):
    output = publish(SHARDS)
    with pytest.raises(RecipeError, match="split at spaces"):
        launcher_files(output.manifest, TrainingSettings(8, directory="my data"))


def test_paths_below_a_directory(publish):
    output = publish(SHARDS)
    texts = launcher_files(output.manifest, TrainingSettings(8, directory="gs://bucket/out/"))
    assert "gs://bucket/out/shards/demo-00000-of-00003 " in texts["megatron.args"]
    assert "//shards" not in texts["megatron.args"]


def test_fragments_say_what_the_plan_says(publish):
    output = publish(SHARDS)
    texts = launcher_files(output.manifest, SETTINGS)
    plan = json.loads(texts["training.json"])
    assert plan == launcher_plan(output.manifest, SETTINGS)
    olmo = json.loads(texts["olmo_core.json"])
    assert olmo["dataset"]["paths"][0] == "shards/demo-00000-of-00003.bin"
    assert olmo["data_loader"] == {"global_batch_size": 64, "seed": 17}
    assert olmo["train_module"]["scheduler"]["alpha_f"] == 0.1
    nanotron = YAML(typ="safe").load(texts["nanotron.yaml"])
    assert nanotron["tokens"]["sequence_length"] == 8
    assert nanotron["tokens"]["train_steps"] == plan["samples"] // 8
    rate = nanotron["optimizer"]["learning_rate_scheduler"]
    assert (rate["learning_rate"], rate["min_decay_lr"]) == (6e-5, pytest.approx(6e-6))
    assert rate["lr_warmup_steps"] + rate["lr_decay_steps"] == nanotron["tokens"]["train_steps"]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ((3_200_000, 2048, 32_000, 1_000_000_000), (1568, BatchRamp(16, 16, 488_281))),
        ((3_200_000, 2048), (1562, None)),
        ((3_200_000, 2048, None, None, 8), (1560, None)),
        ((32_000, 2048, 32_000, 1_000), (16, None)),
        ((1_024, 2048), (1, None)),
    ],
)
def test_batches_in_tokens_become_whole_sequences(tokens, expected):
    assert ramp_of_tokens(*tokens) == expected


def test_a_ramp_in_tokens_is_one_that_megatron_takes():
    for start, final, multiple in [(32_000, 3_200_000, 1), (60_000, 1_000_000, 4), (9, 99, 1)]:
        length = 2048 if start > 10 else 2
        batch, ramp = ramp_of_tokens(final, length, start, 10**6, multiple)
        schedule = TrainingSettings(batch, ramp).schedule()
        assert schedule.sequences(10**9) == batch
        assert all(stage.sequences % multiple == 0 for stage in schedule.stages)


def test_a_batch_below_a_sequence_is_refused():
    with pytest.raises(RecipeError, match="at least one sequence"):
        ramp_of_tokens(1000, 2048)
