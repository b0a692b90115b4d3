"""What requests that run will pick: by their prompts, and by those that ran."""

import numpy as np
import pytest

from expert_bank.eams.running import RunningEams
from expert_bank.pace import Pace
from expert_bank.policy import Policy


def ids(*experts: int, tokens: int = 1) -> np.ndarray:
    """Tokens that pick these in each of two layers, int[T, 2, k]."""
    return np.array([[experts, experts]] * tokens, np.uint16)


def begun() -> RunningEams:
    """Two requests ended, one that picked experts 0 and 1 and one that picked 2 and 3."""
    eams = RunningEams(2, 8, 4)
    eams.see(0, 0, ids(0, 1, tokens=4))
    eams.see(1, 0, ids(2, 3, tokens=4))
    eams.end(0)
    eams.end(1)
    return eams


def test_a_request_is_expected_to_pick_what_the_most_like_it_did() -> None:
    eams = begun()
    assert eams.wanted() is None
    eams.see(7, 0, ids(3, 4))
    found = eams.wanted()
    assert found is not None
    assert found.tolist() == [[0, 0, 0.5, 0.5, 0, 0, 0, 0]] * 2
    assert eams.told() == {"kept": 2, "running": 1, "predictions": 1}


def test_those_that_run_count_alike_however_long_their_prompts_are() -> None:
    eams = begun()
    eams.see(7, 0, ids(3, 4))
    eams.see(8, 0, ids(0, 5, tokens=100))
    found = eams.wanted()
    assert found is not None
    assert found.tolist() == [[0.25] * 4 + [0] * 4] * 2


def test_a_prompt_comes_in_parts_and_one_that_was_preempted_begins_anew() -> None:
    eams = RunningEams(2, 8, 4)
    eams.see(0, 16, ids(0, 1, tokens=2))
    eams.see(0, 18, ids(2, 3))
    # Computed again from an earlier place on, once only in what is kept.
    eams.see(0, 0, ids(0, 1, tokens=3))
    eams.see(0, 3, ids(6, 7, tokens=3))
    eams.end(0)
    assert eams.past.eams[0].tolist() == [[3, 3, 0, 0, 0, 0, 3, 3]] * 2


def test_nothing_is_known_of_a_request_that_was_never_seen() -> None:
    eams = RunningEams(2, 8, 4)
    eams.end(3)
    eams.see(4, 0, ids(0, 1))
    assert eams.wanted() is None
    assert eams.told() == {"kept": 0, "running": 1, "predictions": 0}


def test_no_more_are_kept_than_there_is_room_for() -> None:
    eams = RunningEams(2, 8, 2)
    for number in range(5):
        eams.see(number, 0, ids(number, number + 1))
        eams.end(number)
    assert eams.told()["kept"] == 2


@pytest.mark.parametrize("wanted", [None, [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]])
def test_a_policy_goes_by_what_is_expected_and_within_the_same_bounds(
    wanted: list[float] | None,
) -> None:
    boot = [np.arange(8) < 2]
    pace = Pace(tokens_per_swap=0, residence=0, noise=0, margin=0)
    policy = Policy(boot, rows=[2], row_bytes=[10], picks_per_token=2, pace=pace)
    # All that was picked is hot, and something else is expected.
    counts = np.array([[64, 64, 0, 0, 0, 0, 0, 0]])
    swaps = policy.step(counts, boot, 10, None if wanted is None else np.array([wanted]))
    # Bytes for one of the two swaps.
    assert [each.promote for each in swaps] == ([] if wanted is None else [2])
    assert policy.held_back == (0 if wanted is None else 1)
