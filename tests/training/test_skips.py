import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.errors import RecipeError
from corpusclean.training.batches import BatchSchedule, Jump, megatron_rampup
from corpusclean.training.skips import (
    iterations_to_skip,
    olmo_core_ranges,
    parse_steps,
    restart_plan,
    skip_files,
)


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("7", [(7, 7)]),
        ("12000-12100", [(12000, 12100)]),
        ("9, 3-5 ,6", [(3, 6), (9, 9)]),
        ("1-4,2-3", [(1, 4)]),
    ],
)
def test_steps_as_text(text, ranges):
    assert parse_steps(text) == ranges


@pytest.mark.parametrize("text", ["", "0", "5-3", "a", "1-", "-3", "1,,2", "1.5", "٣"])
def test_other_texts_are_refused(text):
    with pytest.raises(RecipeError, match="expected a step or a range"):
        parse_steps(text)


def test_what_launchers_are_told():
    ranges = [(3, 4), (9, 9)]
    assert iterations_to_skip(ranges) == "--iterations-to-skip 3 4 9"
    assert iterations_to_skip(ranges, 0) == "--iterations-to-skip 2 3 8"
    assert olmo_core_ranges(ranges) == [{"start": 3, "stop": 5}, {"start": 9, "stop": 10}]


def test_a_plan_in_a_ramp():
    """Batches 2, 2, 4, 8, 8: steps 3 and 4 hold the samples 4 to 15."""
    schedule = BatchSchedule([(1, 2), (3, 4), (4, 8)])
    plan = restart_plan(schedule, 3, 4, save_interval=2)
    assert plan == {
        "checkpoint_step": 2,
        "repeated_steps": 0,
        "skip": {
            "first_step": 3,
            "last_step": 4,
            "batches": 2,
            "first_sample": 4,
            "stop_sample": 16,
            "samples": 12,
        },
        "consumed_samples": {"at_checkpoint": 4, "before_skip": 4, "after_skip": 16},
        "jump": {"at_step": 3, "samples": 12},
    }


@given(
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 60),
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 20)), max_size=3),
    st.integers(1, 12),
    st.integers(0, 6),
    st.one_of(st.none(), st.integers(1, 5)),
)
def test_plans_against_an_enumeration(start, grows, ramp, jumps, first, more, save_interval):
    """Restart by the plan, reading samples one by one, and compare what every step gets."""
    schedule = megatron_rampup(start * (grows + 1), start, start, ramp).with_jumps(
        [Jump(*jump) for jump in jumps if jump[0] <= first]
    )
    last = first + more
    plan = restart_plan(schedule, first, last, save_interval)
    before = {step: list(schedule.samples(step)) for step in range(1, last + 20)}
    left_out = {sample for step in range(first, last + 1) for sample in before[step]}
    jumped = range(before[first][0], before[last][-1] + 1)
    # The data that the training reads in order, without what earlier jumps left out.
    stream = [sample for step in sorted(before) for sample in before[step]]
    remaining = iter(sample for sample in stream if sample not in left_out)
    after = schedule.with_jumps([*schedule.jumps, Jump(**plan["jump"])])
    for step in range(1, last + 5):
        assert list(after.samples(step)) == [next(remaining) for _ in range(len(before[step]))]
    assert plan["skip"]["samples"] == len(jumped)
    assert plan["checkpoint_step"] + plan["repeated_steps"] == first - 1
    assert plan["checkpoint_step"] % (save_interval or 1) == 0
    assert plan["consumed_samples"]["at_checkpoint"] == before[plan["checkpoint_step"] + 1][0]
    assert plan["consumed_samples"]["after_skip"] == after.samples(first).start


def test_plans_are_for_steps_that_are():
    with pytest.raises(RecipeError, match="found 4 to 3"):
        restart_plan(BatchSchedule.constant(1), 4, 3)


def test_files():
    files = skip_files(BatchSchedule.constant(4), [(5, 6), (9, 9)], ["bb", "aa", "bb"], 4)
    assert files["megatron.args"] == "--iterations-to-skip 5 6 9\n"
    assert (
        files["mindspeed.args"] == files["megatron_from_0.args"] == ("--iterations-to-skip 4 5 8\n")
    )
    assert json.loads(files["olmo_core.json"])["steps_to_skip"][0] == {"start": 5, "stop": 7}
    assert [plan["checkpoint_step"] for plan in json.loads(files["restart.json"])] == [4, 8]
    assert files["blocklist.txt"] == "aa\nbb\n"
