"""When a map counts as right again after a switch, and when that was too late."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import traffic_switch
from benchmarks.switch_outcome import DEFAULT, PACE, Outcome, Served
from benchmarks.switch_recovery import WINDOW, Recovered, map_before, recovered, recoveries
from expert_bank.policy import Policy
from lanewright.errors import ExitCode
from lanewright.residency.replay import replay
from tests.benchmarks.drawn_switch import FORWARD, PHASE, SWITCHED, H, K, L

BEST = 10
BEFORE = 300


def met(times: Sequence[float], rest: int = 0, end: float = 1.0) -> int | None:
    """What is made of a switch whose windows have so many times the oracle map's cold picks.

    A last window of ``rest`` tokens has ``end`` times as many.
    """
    ours = np.concatenate([np.repeat(times, WINDOW), np.full(rest, end)]) * BEST
    wrong = np.full(BEFORE, 100 * BEST)
    cold = {
        "moving": np.concatenate([wrong, ours, wrong]).astype(np.int64)[:, None],
        "oracle": np.full((len(ours) + 2 * BEFORE, 1), BEST),
    }
    tokens = len(cold["oracle"])
    ends = [BEFORE, tokens - BEFORE, tokens]
    served = Served(np.zeros((tokens, 1, 1), np.int16), np.ones((1, 1), np.bool_), [1], ends, {})
    return recovered(served, Outcome(cold, {}), "moving", SWITCHED)


def test_a_map_is_right_from_its_first_window_that_is_near_on() -> None:
    assert met([2.5, 2.0, 1.3, 1.0, 1.1, 1.0]) == 2 * WINDOW
    assert met([1.0, 1.0]) == 0
    assert met([2.0, 1.5, 1.4]) is None


def test_one_that_is_near_once_and_not_for_the_rest_is_not_right() -> None:
    assert met([2.0, 1.0, 2.0, 2.0, 2.0]) is None
    assert met([2.0, 1.0, 2.0, 2.0, 1.2, 1.0, 1.0]) == 4 * WINDOW


def test_one_noisy_window_behind_it_takes_nothing_away() -> None:
    assert met([2.0, 1.05, 1.41, 1.13, 1.02, 1.0]) == WINDOW


def test_a_window_that_is_not_whole_is_none_but_is_left_like_any_other() -> None:
    assert met([2.0, 2.0], rest=WINDOW - 1) is None
    assert met([2.0, 1.2], rest=100) == WINDOW
    assert met([2.0, 1.2], rest=WINDOW - 1, end=1.5) is None


@pytest.mark.parametrize(
    ("tokens", "bound", "late"),
    [
        # As documented of one run.
        (7168, 7680, False),
        (5120, 7680, False),
        (6144, 18432, False),
        (5120, 18432, False),
        # Right within the window that ends at 8192, or not.
        (8192, 7680, False),
        (8192, 7169, False),
        (8192, 7168, True),
        (9216, 7680, True),
        (0, 0, False),
        (None, 7680, True),
        (None, None, True),
        (7168, None, False),
    ],
)
def test_late_is_behind_the_planner_s_bound_by_a_whole_window_or_never(
    *, tokens: int | None, bound: int | None, late: bool
) -> None:
    found = Recovered("switched", 16, tokens, 50_800, swaps=35, bound=bound, each=32)
    assert found.late == late


def test_recovery_is_told_beside_the_planner_s_bound(served: Served, found: Outcome) -> None:
    switched, late, *_ = recoveries(served, found)
    tokens = recovered(served, found, "moving", SWITCHED)
    assert tokens is not None
    assert 0 < tokens <= PHASE
    assert switched.told().startswith(
        "switched, every 16: within 1.3 times the oracle map for 1,024 tokens and for the rest of the"
        f" phase, after {tokens:,} tokens of {2 * PHASE:,}; by the planner "
    )
    needed = int((served.best(SWITCHED) & ~map_before(served, found, "moving", PHASE)).sum())
    assert (switched.swaps, switched.each) == (needed, FORWARD)
    assert switched.bound is not None
    assert tokens <= switched.bound
    assert switched.told().endswith(
        f"{needed} swaps to the oracle map, at most {switched.bound:,} tokens at {FORWARD} a forward"
    )
    assert late.every == DEFAULT.every
    assert recovered(served, found, "oracle", SWITCHED) == 0
    cold = {**found.cold, "moving": found.cold["fixed"]}
    never = recoveries(served, Outcome(cold, found.swaps))[0]
    assert (never.tokens, never.late) == (None, True)
    assert "not in it of 12,288" in never.told()


def test_the_benchmark_ends_with_what_is_far_or_late(
    served: Served,
    found: Outcome,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["traffic_switch"])
    monkeypatch.setattr(traffic_switch, "serve", lambda *_: served)
    whole = recoveries(served, found)
    # The last is of a slow pace and a phase that is shorter than what the planner gives it.
    assert [each.late for each in whole] == [False, False, False, True]
    assert whole[-1].told().endswith("the phase is too short: more --tokens may tell")
    of_time, late = whole[:-1], [replace(each, bound=0) for each in whole[:2]]
    for made, missed in ((of_time, []), (whole, whole[-1:]), ([*of_time, *late], late)):
        monkeypatch.setattr(traffic_switch, "recoveries", lambda *_, made=made: made)
        code = traffic_switch.main()
        told = capsys.readouterr()
        assert [f"  {each.told()}" for each in made] == told.out.splitlines()[-len(made) :]
        assert told.err.splitlines() == [f"NOT REACHED: {each.told()}" for each in missed]
        assert code is (ExitCode.MISMATCH if missed else ExitCode.CLEAN)


def test_a_map_is_as_the_swaps_so_far_have_made_it(served: Served, found: Outcome) -> None:
    whole = len(served.ids)
    policy = Policy([*served.boot], rows=[H] * L, row_bytes=[1] * L, picks_per_token=K, pace=PACE)
    barriers = [each["token"] for each in served.facts["barriers"]]
    last = replay(
        policy, served.ids, served.boot, every=barriers, rows=[H] * L, row_bytes=[1] * L
    ).hot
    assert (map_before(served, found, "moving", whole) == last).all()
    assert (map_before(served, found, "moving", 0) == served.boot).all()
    assert (last != served.boot).any()
