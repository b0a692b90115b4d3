"""Reads of a step, copies, slots and caches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewright.queue.series_machine import MachineSpec
from lanewright.residency.cost.cache import cache
from lanewright.residency.cost.copies import copies
from lanewright.residency.cost.distinct import distinct, odds
from lanewright.residency.cost.slots import slots
from lanewright.residency.cost.step_reads import Reading, cold_rows, step_reads
from tests.residency.cost.lane import OLD, OTHER, OWN, estimated, lane_machine, lane_model

ROW = lane_model().row / 340e9


@pytest.mark.parametrize(("cold", "draws"), [(89, 5.76), (89, 46.08), (384, 24.0), (1, 3.0)])
def test_distinct_experts_of_uniform_picks(cold: int, draws: float) -> None:
    expected = cold * (1 - (1 - 1 / cold) ** draws)
    assert distinct(odds(cold, 0.0), draws) == pytest.approx(expected)


@given(st.integers(1, 60), st.floats(0, 300), st.floats(0, 2))
def test_no_more_distinct_experts_than_there_are_picks_or_experts(
    experts: int, draws: float, skew: float
) -> None:
    found = distinct(odds(experts, skew), draws)
    assert 0 <= found <= min(experts, draws) + 1e-9
    # The more alike, the fewer.
    assert found <= distinct(odds(experts, 0.0), draws) + 1e-9


def test_distinct_experts_are_those_of_drawn_picks() -> None:
    random, each = np.random.default_rng(7), odds(40, 1.1)
    drawn = [len(set(random.choice(40, 25, p=each))) for _ in range(4000)]
    assert distinct(each, 25) == pytest.approx(np.mean(drawn), abs=0.12)


def test_part_of_a_pick_is_part_of_an_expert() -> None:
    assert distinct(odds(89, 0.0), 0.25) == 0.25
    assert distinct(odds(89, 0.0), 1.0) == pytest.approx(1)
    assert distinct(odds(1, 0.0), 5.0) == 1
    assert distinct(odds(0, 0.0), 5.0) == 0


def test_a_step_of_one_token_reads_what_a_token_does() -> None:
    found = step_reads(lane_model(), Reading(1.0), 1, 0.027, ROW, 14.6e-3)
    token = estimated().token[OWN]
    assert found.rows == pytest.approx(token.rows)
    assert found.seconds == pytest.approx(token.seconds)
    assert found.of_step == pytest.approx(token.of_step)


def test_layers_with_another_number_of_cold_experts() -> None:
    model = lane_model(",".join(["384"] * 20 + ["295"] * 20))
    half = cold_rows(model, Reading(4.0), 1, 0.24)
    assert half == pytest.approx(cold_rows(lane_model(), Reading(4.0), 1, 0.24) / 2)
    found = step_reads(model, Reading(4.0), 1, 0.24, ROW, None)
    assert found.layer_rows == pytest.approx(half / 20)
    assert found.picks_per_row == pytest.approx(5.76 / found.layer_rows)
    assert found.of_step is None


def test_what_is_hidden_is_left_out() -> None:
    whole = step_reads(lane_model(), Reading(4.0), 1, 0.24, ROW, None)
    hidden = step_reads(lane_model(), Reading(4.0, overlap=0.25), 1, 0.24, ROW, None)
    assert hidden.seconds == pytest.approx(0.75 * whole.seconds)
    assert hidden.rows == whole.rows


def test_with_eight_users_there_is_something_to_collect() -> None:
    """By the reading of steps, where one token's arithmetic has 0.36 ms."""
    found = estimated().steps[OWN][8]
    assert found.seconds == pytest.approx(10.8e-3, abs=5e-5)
    assert found.step == pytest.approx(25.4e-3, abs=5e-5)
    assert found.of_step == pytest.approx(0.43, abs=0.005)


def test_asked_for_is_taken_before_fitted() -> None:
    found = estimated(tokens=2.5, overlap=0.5, skew=1.0, users=(3,))
    assert found.reading == Reading(2.5, 0.5, 1.0)
    assert found.tokens_from == "given"
    assert set(found.steps[OLD]) == {3}


def test_a_copy_pays_at_the_second_read() -> None:
    """340 against 8,000 GB/s: a read in device memory is 4 % of one over the link."""
    found = estimated().copies
    assert found.break_even_reads == pytest.approx(8000 / 7660)
    assert found.reads == 2
    link, hbm = ROW, ROW * 340 / 8000
    assert link + 1 * hbm > 1 * link
    assert link + 2 * hbm < 2 * link


def test_a_device_memory_as_slow_as_the_link_never_pays() -> None:
    for hbm, reads in ((340.0, None), (680.0, 3), (None, None)):
        each = copies(lane_model(), MachineSpec("1GiB", "1GiB", hbm=hbm), 340.0, 2**26, 1)
        assert each.reads == reads


def test_turnover() -> None:
    found = estimated().copies
    assert found.rows_per_second == pytest.approx(18094, abs=1)
    assert found.bank_seconds == pytest.approx(62.3 * 2**30 / 340e9, rel=1e-4)
    assert found.counts_bytes == 40 * 384 * 4
    # The fourth runs past the budget of 64 MiB.
    assert found.swaps == 4
    assert found.barrier_seconds == pytest.approx(4 * ROW)
    both_ways = estimated(budget=2**26, moved=2).copies
    assert both_ways.swaps == 2
    assert both_ways.barrier_seconds == pytest.approx(4 * ROW)


def test_slots() -> None:
    found = slots(lane_model(), lane_machine().machine, 3)
    assert (found.rows, round(found.bytes / 2**30, 1)) == (120, 2.1)
    assert found.kv_tokens == pytest.approx(1.09e6, abs=5e3)
    assert found.of_pool == pytest.approx(0.43, abs=0.005)
    bare = slots(lane_model(), MachineSpec("1GiB", "1GiB"), 1)
    assert (bare.rows, bare.kv_tokens, bare.of_pool, bare.left_tokens) == (40, None, None, None)


def test_users_from_which_on_a_layer_is_more_than_the_cache() -> None:
    found = estimated().cache
    assert found is not None
    assert (found.over_from[OWN], found.over_from[OLD], found.over_from[OTHER]) == (12, 2, 2)
    steps = estimated(users=(11, 12)).steps[OWN]
    assert steps[11].layer_bytes <= found.bytes < steps[12].layer_bytes
    # One user's fits, eight users' does not, as stated; so is it for the old map.
    one, eight = (estimated().steps[OLD][users].layer_bytes for users in (1, 8))
    assert one < found.bytes < eight
    whole = cache(lane_model(), Reading(4.0), {"a": 0.027}, 2**31)
    assert whole.over_from == {"a": None}


def test_what_a_disk_had_to_read() -> None:
    found = estimated().disk
    assert found is not None
    assert found.gb_per_second == pytest.approx(estimated().token[OWN].bytes / 1.46e-3 / 1e9)
