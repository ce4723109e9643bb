"""The project's orders against megatron-core itself, index for index and token for token.

    python tests/conformance/megatron_order.py [OUTPUT]

Run it in an environment that holds megatron-core and torch (CPU is enough; megatron-core 0.16.1
and torch 2.14.1 were used) beside numpy, numba, pyarrow and fsspec, with src on the path. OUTPUT
is the output folder of a run, as `make demo` leaves it in out/quickstart; without it, only the
index arrays are compared. Ends with 0 if all is equal, 1 if something differs, and says so and
ends with 0 where megatron-core is not installed.
"""

import itertools
import json
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from corpusclean.training import blend_order, gpt_dataset_order
from corpusclean.training.launcher import launcher_files
from corpusclean.training.settings import TrainingSettings
from corpusclean.training.trace import open_training, trace

LENGTHS = {
    "a few": [5, 12, 3, 20, 7, 9],
    "one": [100],
    "equal": [8] * 50,
    "many": np.random.default_rng(7).integers(1, 400, 3000).tolist(),
}
WEIGHTS = [(0.7, 0.2, 0.1), (0.5, 0.3, 0.2), (1.0,), (15176, 15098, 15001, 9), tuple(range(1, 40))]


def config(megatron, length, seed, cache=None, extra=True, **data):
    tokenizer = SimpleNamespace(
        vocab_size=60000, eod=0, pad=-1, unique_identifiers={}, special_tokens_dict={}
    )
    return megatron.GPTDatasetConfig(
        random_seed=seed,
        sequence_length=length,
        path_to_cache=cache,
        tokenizer=tokenizer,
        reset_position_ids=False,
        reset_attention_mask=False,
        eod_mask_loss=False,
        create_attention_mask=False,
        add_extra_token_to_sequence=extra,
        mmap_bin_files=True,
        **data,
    )


def load():
    """Return the classes of megatron-core, None where it is not installed."""
    warnings.filterwarnings("ignore")
    try:
        import torch
        from megatron.core.datasets import blended_megatron_dataset_builder as builder
        from megatron.core.datasets import gpt_dataset, helpers, indexed_dataset, utils
    except ImportError as error:
        print(f"skipped: megatron-core is not here ({error})")
        return None
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    return SimpleNamespace(
        GPTDataset=gpt_dataset.GPTDataset,
        GPTDatasetConfig=gpt_dataset.GPTDatasetConfig,
        IndexedDataset=indexed_dataset.IndexedDataset,
        Builder=indexed_dataset.IndexedDatasetBuilder,
        BlendedBuilder=builder.BlendedMegatronDatasetBuilder,
        Split=utils.Split,
        helpers=helpers,
        utils=utils,
    )


def same(found, expected, what):
    """Return whether arrays are equal, type and all; print what is not."""
    for name, ours, theirs in zip(("first", "second", "third"), found, expected, strict=False):
        if ours.dtype != theirs.dtype or not np.array_equal(ours, theirs):
            print(
                f"differs: {what}: {name} array: {ours.dtype}{ours[:8]} {theirs.dtype}{theirs[:8]}"
            )
            return False
    return True


def compare_orders(megatron, folder):
    """Compare document, sample and shuffle index over lengths, sample counts and seeds."""
    good = compared = 0
    for name, lengths in LENGTHS.items():
        prefix = f"{folder}/{name.replace(' ', '_')}"
        builder = megatron.Builder(f"{prefix}.bin", dtype=np.uint16)
        for length in lengths:
            builder.add_document(np.arange(length) % 60000, [length])
        builder.finalize(f"{prefix}.idx")
        data = megatron.IndexedDataset(prefix)
        epoch = sum(lengths) // 8
        counts = [None, 1, epoch - 1, epoch + 1, int(1.5 * epoch), int(1.9 * epoch), 3 * epoch]
        for samples, seed, extra in itertools.product(counts, [1, 1234], [True, False]):
            # Megatron's cache does not tell the two values of the extra token apart.
            cache = f"{folder}/cache-{extra}"
            given = config(megatron, 8, seed, cache, extra, blend=([prefix], None), split="1,0,0")
            everything = np.arange(len(lengths), dtype=np.int32)
            theirs = megatron.GPTDataset(
                data, prefix, everything, samples, megatron.Split.train, given
            )
            ours = gpt_dataset_order(np.array(lengths, np.int32), 8, samples, seed, extra)
            indices = (theirs.document_index, theirs.sample_index, theirs.shuffle_index)
            compared += 1
            good += same(ours, indices, f"{name}, {samples} samples, seed {seed}, extra {extra}")
    return good, compared


def compare_blends(megatron):
    good = compared = 0
    for weights, size in itertools.product(WEIGHTS, [1, 10, 5000]):
        share = megatron.utils.normalize(list(weights))
        theirs = (np.zeros(size, np.int16), np.zeros(size, np.int64))
        megatron.helpers.build_blending_indices(*theirs, share, len(weights), size, False)
        compared += 1
        good += same(blend_order(weights, size), theirs, f"blend {weights[:4]}, {size}")
    return good, compared


def blended(megatron, output, arguments, cache):
    """Build the training data set as Megatron does, from the arguments of a launcher file."""
    words = arguments.split()
    at = words.index("--data-path") + 1
    end = next(i for i in range(at, len(words)) if words[i].startswith("--"))
    paths = [str(output / w) if i % 2 else w for i, w in enumerate(words[at:end])]
    value = {name: words[words.index(name) + 1] for name in ("--seed", "--split", "--seq-length")}
    given = config(
        megatron,
        int(value["--seq-length"]),
        int(value["--seed"]),
        str(cache),
        blend=megatron.utils.get_blend_from_list(paths),
        split=value["--split"],
    )
    samples = int(words[words.index("--train-samples") + 1])
    build = megatron.BlendedBuilder(megatron.GPTDataset, [samples, 0, 0], lambda: True, given)
    return build.build()[0], samples


def compare_trace(megatron, output, folder):
    """Compare the tokens of steps as Megatron reads them with those that `trace` names."""
    manifest = json.loads((output / "manifest.json").read_text())
    shards = {
        i: megatron.IndexedDataset(str(output / shard["path"]))
        for i, shard in enumerate(manifest["shards"])
    }
    settings = TrainingSettings(global_batch=4)
    texts = launcher_files(manifest, settings)
    data, samples = blended(megatron, output, texts["megatron.args"], folder)
    good = compared = 0
    seen = []
    for indices in (None, folder):
        training = open_training(output, "megatron", global_batch=4, indices=indices)
        for step in (1, 2, training.schedule.whole_steps(samples)):
            entries = trace(output, step, order="megatron", global_batch=4, indices=indices)
            for sample in training.schedule.samples(step):
                compared += 1
                theirs = data[sample]
                theirs = np.append(theirs["tokens"].numpy(), theirs["labels"].numpy()[-1])
                ours = np.concatenate(
                    [
                        shards[e["shard"]].get(e["sequence"])[e["start"] : e["stop"]]
                        for e in entries
                        if e["sample"] == sample
                    ]
                )
                good += same([ours.astype(np.int64)], [theirs], f"step {step}, sample {sample}")
    # No token is drawn twice, but for the one by which samples overlap.
    drawn = np.zeros(len(manifest["shards"]), object)
    for number, shard in shards.items():
        drawn[number] = np.zeros(int(shard.sequence_lengths.sum()), np.int8)
    begins = {i: np.cumsum(s.sequence_lengths) - s.sequence_lengths for i, s in shards.items()}
    slices = open_training(output, "megatron", global_batch=4).order.slices(np.arange(samples))
    last = np.r_[slices.sample[1:] != slices.sample[:-1], True]
    for i in range(len(slices)):
        number = int(slices.shard[i])
        base = int(begins[number][slices.sequence[i]])
        drawn[number][base + slices.start[i] : base + slices.stop[i] - int(last[i])] += 1
    seen = [int(tokens.max()) for tokens in drawn]
    compared += 1
    good += max(seen) == 1
    used = sum(int((tokens > 0).sum()) for tokens in drawn) / manifest["tokens"]["emitted"]
    print(f"{samples} samples read {used:.2%} of the tokens, none twice: {max(seen) == 1}")
    return good, compared


def main():
    megatron = load()
    if megatron is None:
        return 0
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        results = {
            "document, sample and shuffle indices": compare_orders(megatron, folder),
            "blends": compare_blends(megatron),
        }
        if len(sys.argv) > 1:
            cache = Path(folder) / "cache"
            results["tokens of steps"] = compare_trace(megatron, Path(sys.argv[1]), cache)
    for what, (good, compared) in results.items():
        ok &= good == compared
        print(f"{what}: {good} of {compared} equal")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
