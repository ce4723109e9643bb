import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpusclean.errors import InputError, RecipeError, ShardError
from corpusclean.training.batches import BatchSchedule, Jump
from corpusclean.training.data import load_output
from corpusclean.training.order import MegatronOrder, OwnOrder
from corpusclean.training.supply import megatron_supply
from corpusclean.training.trace import open_training, trace, trace_document

SHARDS = [[5, 12, 3], [20, 7, 9, 1, 1], [30], [8, 8, 9]]
RANDOM = [np.random.default_rng(i).integers(1, 60, 300).tolist() for i in range(4)]
OTHER_SETTINGS = settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def document_of(output, token):
    return next(uid for uid, first, size in output.documents if first <= token < first + size)


def test_own_order_is_one_stream_across_shards(publish, read_tokens):
    output = publish(SHARDS)
    samples = (output.tokens - 1) // 8
    entries = trace(output.directory, range(1, samples + 1), global_batch=1)
    assert read_tokens(output, entries) == {
        i: list(range(8 * i, 8 * i + 9)) for i in range(samples)
    }
    for entry in entries:
        assert entry["step"] == entry["sample"] + 1
        first = int(output.begins[entry["shard"]])
        lengths = load_output(output.directory).lengths
        shard = load_output(output.directory).shards[entry["shard"]]
        first += int(lengths(shard)[: entry["sequence"]].sum()) + entry["start"]
        uid = document_of(output, first)
        assert entry["uid"] == uid.hex()
        begin = next(f for u, f, _ in output.documents if u == uid)
        assert entry["document_start"] == first - begin


def test_an_entry_has_the_keys_of_the_contract(publish):
    output = publish(SHARDS)
    (entry, *_) = trace(output.directory, 1, global_batch=2)
    assert entry == {
        "step": 1,
        "sample": 0,
        "source": "web",
        "uid": output.documents[0][0].hex(),
        "id": None,
        "copy": 0,
        "shard": 0,
        "path": "shards/demo-00000-of-00004",
        "sequence": 0,
        "start": 0,
        "stop": 5,
        "document_start": 0,
        "skipped": False,
    }


def test_a_document_at_a_sample_boundary_is_in_both_samples(publish):
    """The second document begins at token 8: the label of sample 0, the input of sample 1."""
    output = publish([[8, 8, 9]])
    entries = trace(output.directory, [1, 2], global_batch=1)
    assert [(e["sample"], e["sequence"], e["start"], e["stop"]) for e in entries] == [
        (0, 0, 0, 8),
        (0, 1, 0, 1),
        (1, 1, 0, 8),
        (1, 2, 0, 1),
    ]


@pytest.mark.parametrize("packed", [None, 9, 16])
@pytest.mark.parametrize("order", ["own", "megatron"])
def test_both_directions_agree(publish, read_tokens, order, packed):
    output = publish([sizes[:60] for sizes in RANDOM], packed=packed)
    options = {"order": order, "global_batch": 16}
    training = open_training(output.directory, **options)
    entries = trace(output.directory, range(1, training.steps + 1), **options)
    tokens = read_tokens(output, entries)
    assert len(tokens) == training.steps * 16
    assert all(len(ids) == 9 for ids in tokens.values())
    for uid in {entry["uid"] for entry in entries[:12]}:
        found = trace_document(output.directory, uid, **options)
        expected = [entry for entry in entries if entry["uid"] == uid]
        assert [e for e in found if e["step"] <= training.steps] == expected
    uid_of = np.repeat(np.arange(len(output.documents)), [n for *_, n in output.documents])
    for sample, ids in tokens.items():
        named = [e for e in entries if e["sample"] == sample]
        uids = np.repeat([e["uid"] for e in named], [e["stop"] - e["start"] for e in named])
        assert [output.documents[i][0].hex() for i in uid_of[ids]] == uids.tolist()


def test_megatron_reads_no_token_twice_and_almost_all(publish, read_tokens):
    output = publish(RANDOM)
    order = open_training(output.directory, "megatron", global_batch=1).order
    slices = order.slices(np.arange(order.samples))
    seen = np.zeros(output.tokens, int)
    loaded = load_output(output.directory)
    last = np.r_[slices.sample[1:] != slices.sample[:-1], True]
    for i in range(len(slices)):
        shard = loaded.shards[slices.shard[i]]
        base = int(output.begins[shard.number])
        base += int(loaded.lengths(shard)[: slices.sequence[i]].sum())
        seen[base + slices.start[i] : base + slices.stop[i] - int(last[i])] += 1
    assert seen.max() == 1
    assert seen.mean() > 0.99


def test_a_share_of_each_source_is_that_of_the_manifest(publish):
    output = publish([np.random.default_rng(i).integers(1, 9, 5000).tolist() for i in range(3)])
    order = open_training(output.directory, "megatron", global_batch=1).order
    entries = trace(
        output.directory, samples=range(order.samples), order="megatron", global_batch=1
    )
    tokens = dict.fromkeys(output.manifest["sources"], 0)
    for entry in entries:
        tokens[entry["source"]] += entry["stop"] - entry["start"]
    for name, source in output.manifest["sources"].items():
        assert tokens[name] / sum(tokens.values()) == pytest.approx(
            source["ratio_emitted"], abs=0.001
        )


def test_validation_shards_are_not_traced(publish, read_tokens):
    output = publish(SHARDS, splits=["train", "validation", "train", "train"])
    assert {e["shard"] for e in trace(output.directory, range(1, 9), global_batch=1)} == {0, 2, 3}


def test_tiny_shards_are_left_out_of_megatrons_order(publish):
    output = publish([[100] * 20, [4, 3], [100] * 20])
    supply = megatron_supply(load_output(output.directory))
    assert [shard.number for shard in supply.left_out] == [1]
    assert supply.samples > 480


def test_only_tiny_shards(publish):
    output = publish([[4, 4], [4]])
    with pytest.raises(RecipeError, match="long enough"):
        open_training(output.directory, "megatron", global_batch=1)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"sequence_length": 16}, "found sequence length 8, asked for 16"),
        ({"seed": 3}, "found seed 17, asked for 3"),
        ({"order": "random"}, "expected one of own, megatron"),
        ({"global_batch": None}, "name it by --global-batch"),
    ],
)
@pytest.mark.parametrize("order", ["own", "megatron"])
def test_settings_that_do_not_fit_are_refused(publish, asked, said, order):
    output = publish(RANDOM)
    with pytest.raises(RecipeError, match=said):
        trace(output.directory, 1, **({"order": order, "global_batch": 4} | asked))


def test_settings_that_fit_are_accepted(publish):
    output = publish(SHARDS)
    assert trace(output.directory, 1, global_batch=1, sequence_length=8, seed=17)


@pytest.mark.parametrize(("steps", "said"), [(0, "count from 1"), (15, "has 14")])
def test_steps_that_are_not_there(publish, steps, said):
    output = publish(SHARDS)
    with pytest.raises(RecipeError, match=said):
        trace(output.directory, steps, global_batch=1)


def test_ramp_jump_and_skips(publish):
    """Batches of 1, 2, 4; before step 3, three samples are left out; step 2 is skipped."""
    output = publish(SHARDS)
    options = {"global_batch": [(1, 1), (2, 2), (3, 4)], "jumps": [Jump(3, 3)]}
    entries = trace(output.directory, [1, 2, 3], skipped=[2], **options)
    read = {}
    for entry in entries:
        read.setdefault(entry["step"], set()).add(entry["sample"])
        assert entry["skipped"] == (entry["step"] == 2)
    assert read == {1: {0}, 2: {1, 2}, 3: {6, 7, 8, 9}}
    jumped = trace(output.directory, samples=range(4, 5), **options)
    assert {entry["step"] for entry in jumped} == {None}


def test_ranks_share_a_step(publish):
    output = publish(RANDOM)
    options = {"order": "megatron", "global_batch": 8}
    of_ranks = [trace(output.directory, [3, 4], rank=(2, 2, rank), **options) for rank in range(2)]
    assert {e["sample"] for e in of_ranks[1]} == {18, 19, 22, 23, 26, 27, 30, 31}
    whole = trace(output.directory, [3, 4], **options)
    assert sorted([*of_ranks[0], *of_ranks[1]], key=lambda e: e["sample"]) == whole
    with pytest.raises(RecipeError, match="multiple of micro-batch 3"):
        trace(output.directory, 3, rank=(3, 2, 0), **options)


def test_the_manifests_batches(publish):
    output = publish(SHARDS)
    path = output.directory / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["training"] = {"global_batch": [{"from_step": 1, "tokens": 16}]}
    path.write_text(json.dumps(manifest))
    assert {e["sample"] for e in trace(output.directory, 2)} == {2, 3}


def test_documents_that_are_not_there(publish):
    output = publish(SHARDS)
    with pytest.raises(InputError, match="no training shard holds"):
        trace_document(output.directory, "ab" * 16, global_batch=1)
    with pytest.raises(RecipeError, match="32 hex digits"):
        trace_document(output.directory, "abc", global_batch=1)


def test_missing_and_damaged_files_are_named(publish):
    output = publish(SHARDS)
    (output.directory / "provenance" / "demo-00000-of-00004.parquet").write_bytes(b"PAR1")
    with pytest.raises(ShardError, match=r"demo-00000-of-00004\.parquet"):
        trace(output.directory, 1, global_batch=1)
    idx = output.directory / "shards" / "demo-00000-of-00004.idx"
    for content in (b"", idx.read_bytes()[:40], b"x" * 100):
        idx.write_bytes(content)
        with pytest.raises(ShardError, match=r"demo-00000-of-00004\.idx"):
            trace(output.directory, 1, global_batch=1)
    idx.unlink()
    with pytest.raises(ShardError, match="not found"):
        trace(output.directory, 1, global_batch=1)
    (output.directory / "manifest.json").write_text("[]")
    with pytest.raises(InputError, match="not a manifest"):
        trace(output.directory, 1, global_batch=1)
    with pytest.raises(InputError, match="not found"):
        trace(output.directory / "nowhere", 1, global_batch=1)


LENGTHS = st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=8), min_size=1, max_size=5)


@given(LENGTHS, st.integers(1, 20))
@OTHER_SETTINGS
def test_own_order_of_any_shards(publish, lengths, sequence_length):
    output = publish(lengths, sequence_length=sequence_length)
    order = OwnOrder(load_output(output.directory))
    assert order.samples == max(0, (output.tokens - 1) // sequence_length)
    slices = order.slices(np.arange(order.samples))
    loaded = load_output(output.directory)
    found = [[] for _ in range(order.samples)]
    for i in range(len(slices)):
        shard = loaded.shards[slices.shard[i]]
        base = int(output.begins[shard.number] + loaded.lengths(shard)[: slices.sequence[i]].sum())
        found[slices.sample[i]] += range(base + slices.start[i], base + slices.stop[i])
    s = sequence_length
    assert found == [list(range(i * s, i * s + s + 1)) for i in range(order.samples)]


def test_schedules_are_taken_as_they_are(publish):
    output = publish(SHARDS)
    training = open_training(output.directory, global_batch=BatchSchedule.constant(3))
    assert training.steps == 4


def test_megatron_order_without_a_blend(publish):
    """One shard beside validation shards: its GPTDataset is read as it is."""
    output = publish([RANDOM[0], [200]], splits=["train", "validation"])
    loaded = load_output(output.directory)
    supply = megatron_supply(loaded)
    assert not supply.blended
    order = MegatronOrder(loaded, supply.shards, supply.samples, 17, supply.blended)
    shuffled = order.indices(0).shuffle_index
    assert len(shuffled) == supply.samples == (sum(RANDOM[0]) - 1) // 8
