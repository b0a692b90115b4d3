"""What the planner is asked about a switch whose price was measured."""

import pytest

from benchmarks.inside_lane import Facts
from benchmarks.price_estimate import estimate, hot_states, plan_of, random_bytes
from expert_bank.pace import Pace

MIB = 2**20
FOUND: Facts = {
    "experts": 8,
    "picks": 2,
    "row_bytes": [MIB, 3 * MIB],
    "hot_rows": [6, 4],
    "maps": {
        "boot": [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3]],
        "moved": [[0, 1, 2, 3, 4, 7], [4, 5, 2, 3]],
    },
    "tokens": 1000,
    "forwards": 125,
}


def test_a_step_at_random_reads_the_cold_share_of_its_picks() -> None:
    assert random_bytes(plan_of(FOUND)) == 2 * (2 / 8) * MIB + 2 * (4 / 8) * 3 * MIB


def test_swaps_are_those_between_the_maps() -> None:
    told = estimate(FOUND, Pace(every=16))
    assert "3.50 MiB a step" in told
    assert "from the one map to the other 3 swaps" in told
    assert "at 8 a forward" in told
    assert "the map followed 1000 tokens" in told


def test_fewer_swaps_take_no_more_tokens() -> None:
    same = {**FOUND, "maps": {**FOUND["maps"], "moved": FOUND["maps"]["boot"]}}
    of_same, of_three, worst = (
        int(part.split(" tokens at")[0].rsplit(" ", 1)[1])
        for part in (
            estimate(same, Pace(every=16)),
            estimate(FOUND, Pace(every=16)),
            estimate(
                {
                    **FOUND,
                    "maps": {
                        "boot": [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3]],
                        "moved": [[2, 3, 4, 5, 6, 7], [4, 5, 6, 7]],
                    },
                },
                Pace(every=16),
            ),
        )
    )
    assert of_same < of_three <= worst


def test_states_are_those_of_the_ids() -> None:
    (state,) = hot_states([[1, 3]], 4)
    assert state.tolist() == [False, True, False, True]


def test_hot_rows_that_no_layer_has_are_refused() -> None:
    with pytest.raises(ValueError, match="9 hot rows of 8 experts"):
        plan_of({**FOUND, "hot_rows": [9, 4]})
