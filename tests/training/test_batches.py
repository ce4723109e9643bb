import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusclean.errors import RecipeError
from corpusclean.training.batches import BatchSchedule, Jump, megatron_rampup, rank_samples


def sizes(schedule, steps):
    return [schedule.sequences(step) for step in range(1, steps + 1)]


def walked(schedule, steps):
    """Read step after step, leaving out what jumps say; return the samples of each."""
    at, read = 0, []
    for step in range(1, steps + 1):
        at += sum(jump.samples for jump in schedule.jumps if jump.at_step == step)
        read.append(list(range(at, at + schedule.sequences(step))))
        at = read[-1][-1] + 1
    return read


def test_a_ramp_with_skipped_iterations():
    """Batches of 2, 4, 8, growing each four samples; iterations 3 and 4 are read all the same."""
    schedule = BatchSchedule([(1, 2), (3, 4), (4, 8)])
    assert sizes(schedule, 6) == [2, 2, 4, 8, 8, 8]
    assert schedule.samples(5) == range(16, 24)
    assert schedule.with_jumps([Jump(3, 12)]).samples(5) == range(28, 36)


@pytest.mark.parametrize(
    ("ramp", "expected"),
    [
        # Grows at 4 and 8 consumed samples, seen when a step begins.
        ((6, 2, 2, 8), [2, 2, 4, 6, 6, 6]),
        ((8, 2, 2, 4), [2, 4, 8, 8]),
        ((8, 2, 2, 7), [2, 2, 4, 8]),
        ((3, 1, 2, 1), [1, 3, 3]),
    ],
)
def test_megatron_ramps(ramp, expected):
    assert sizes(megatron_rampup(*ramp), len(expected)) == expected


def megatron_sizes(final, start, increment, ramp_samples, steps):
    """Enumerate batch sizes as Megatron's calculator does, one update before each step."""
    share = ramp_samples / ((final - start) // increment)
    consumed, found = 0, []
    for _ in range(steps):
        size = final if consumed > ramp_samples else start + int(consumed / share) * increment
        found.append(size)
        consumed += size
    return found


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 2000))
def test_ramps_as_an_enumeration_finds_them(start, increment, increments, samples):
    final = start + increments * increment
    schedule = megatron_rampup(final, start, increment, samples)
    assert sizes(schedule, 300) == megatron_sizes(final, start, increment, samples, 300)


@pytest.mark.parametrize(
    ("ramp", "said"),
    [
        ((8, 8, 1, 10), "final batch above"),
        ((4, 8, 1, 10), "final batch above"),
        ((8, 2, 0, 10), "above zero"),
        ((8, 2, 2, 0), "above zero"),
        ((8, 2, 4, 10), "increments of 4"),
        ((8, 2, 2, 10, 4), "no multiple of 4"),
    ],
)
def test_what_megatron_refuses_is_refused(ramp, said):
    with pytest.raises(RecipeError, match=said):
        megatron_rampup(*ramp)


def test_batches_are_rounded_down_if_asked():
    schedule = megatron_rampup(8, 4, 1, 40, multiple_of=4, round_down=True)
    assert set(sizes(schedule, 20)) == {4, 8}


STAGES = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 9)), min_size=1, max_size=5)
JUMPS = st.lists(st.tuples(st.integers(1, 25), st.integers(0, 40)), max_size=4)


@given(STAGES, JUMPS)
def test_steps_and_samples_as_an_enumeration_finds_them(gaps, jumps):
    step, stages = 1, []
    for gap, size in gaps:
        stages.append((step, size))
        step += gap
    schedule = BatchSchedule(stages, [Jump(*jump) for jump in jumps])
    read = walked(schedule, 30)
    assert [list(schedule.samples(step)) for step in range(1, 31)] == read
    step_of = {sample: step for step, samples in enumerate(read, 1) for sample in samples}
    for sample in range(read[-1][-1] + 1):
        assert schedule.step_of(sample) == step_of.get(sample)


@given(STAGES, st.integers(0, 200))
def test_whole_steps(gaps, samples):
    step, stages = 1, []
    for gap, size in gaps:
        stages.append((step, size))
        step += gap
    schedule = BatchSchedule(stages)
    steps = schedule.whole_steps(samples)
    assert schedule.trained(steps + 1) <= samples < schedule.trained(steps + 2)


@pytest.mark.parametrize("stages", [[], [(2, 1)], [(1, 1), (1, 2)], [(1, 0)]])
def test_impossible_stages_are_refused(stages):
    with pytest.raises(RecipeError, match="batch sizes"):
        BatchSchedule(stages)


def test_step_zero_is_refused():
    with pytest.raises(RecipeError, match="steps count from 1"):
        BatchSchedule.constant(4).samples(0)


def test_ranks_take_their_slices_of_each_block():
    """Micro-batches of 2 on 3 ranks: blocks of 6 samples."""
    dealt = [rank_samples(range(12, 24), 2, 3, rank) for rank in range(3)]
    assert dealt == [
        [range(12, 14), range(18, 20)],
        [range(14, 16), range(20, 22)],
        [range(16, 18), range(22, 24)],
    ]


@pytest.mark.parametrize(("micro", "ranks", "rank"), [(5, 1, 0), (2, 3, 3), (2, 3, -1), (0, 1, 0)])
def test_impossible_ranks_are_refused(micro, ranks, rank):
    with pytest.raises(RecipeError):
        rank_samples(range(12, 24), micro, ranks, rank)
