"""Policies on one trace: what each reads, moves and waits for."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from expert_bank.pace import Pace
from expert_bank.policy import Policy
from lanewright.cli_replay import POLICIES as TYPED
from lanewright.residency.compared.forwards import forward_starts
from lanewright.residency.compared.maps import following
from lanewright.residency.compared.outcome import Outcome, waited
from lanewright.residency.compared.policies import POLICIES, outcomes
from lanewright.residency.compared.setting import Setting
from lanewright.residency.fixed import fixed_cold
from lanewright.residency.lru import lru_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.replay import replay
from lanewright.residency.trace import counted
from lanewright.residency.trace_file.recorded import Recorded
from tests.residency import requests, traffic

ROW = 10**6


def setting(found: Recorded, rows: int, **more: Any) -> Setting:  # noqa: ANN401 - settings
    layers = len(found.layers)
    boot = np.arange(found.experts)[None].repeat(layers, 0) < rows
    told: dict[str, Any] = {"trace": found, "boot": boot, "rows": (rows,) * layers, "row": ROW}
    return Setting(**(told | more))


def only(name: str, on: Setting) -> Outcome:
    [found] = outcomes(name, on)
    return found


def pooled(tokens: int, at_once: int) -> Recorded:
    """Requests of eight tokens with favourites of their own, many in each forward."""
    count = tokens * at_once // 8
    each = [traffic.matched(8, 2, 64, 4, seed=number) for number in range(count)]
    rounds = [np.stack(each[at : at + at_once], axis=1) for at in range(0, count, at_once)]
    ids = np.concatenate(rounds).reshape(-1, 2, 4)
    request = np.arange(count).reshape(-1, 1, at_once).repeat(8, axis=1).ravel()
    position = np.tile(np.arange(8).repeat(at_once), count // at_once)
    forward = np.arange(tokens).repeat(at_once)
    return requests.recorded(ids, 64, forward=forward, request=request, position=position)


POOLED = pooled(320, 32)
SWITCH = requests.recorded(traffic.switch(6000, 2, 64, 4, at=2000), 64)


def test_the_command_line_names_the_same_policies() -> None:
    assert TYPED == POLICIES


@pytest.mark.parametrize("name", [each for each in POLICIES if "following" not in each])
def test_nothing_moves_ahead_but_where_a_policy_predicts(name: str) -> None:
    found = requests.recorded(traffic.matched(80, 2, 16, 2), 16, request=np.arange(80) // 8)
    each = [*outcomes(name, setting(found, 6, links=(24.0, 340.0)))]
    assert len(each) == 1 + name.startswith("infinity")
    for outcome in each:
        assert outcome.swaps is None
        assert (outcome.ahead.sum() > 0) == name.startswith("infinity")
        if not name.startswith("infinity"):
            assert outcome.moved == outcome.demanded.sum() == outcome.cold.sum()
            assert outcome.wasted == 0
            for link, seconds in waited(outcome.demanded, ROW, (24.0, 340.0)).items():
                assert (outcome.stall[link] == seconds).all()


def test_each_name_is_its_policy() -> None:
    ids = SWITCH.ids
    on = setting(SWITCH, 49)
    counts = counted(ids, 64)
    assert (only("fixed", on).cold == fixed_cold(ids, on.boot)).all()
    assert (only("oracle", on).cold == fixed_cold(ids, oracle_map(counts, on.rows))).all()
    assert (only("lru", on).cold == lru_cold(ids, on.boot, on.rows)).all()
    # Without prompts there is nothing that requests are like; test_prompts has those.
    names = {each for each in POLICIES if "infinity" not in each} - {"following-eams"}
    cold = {name: int(only(name, on).cold.sum()) for name in names}
    assert cold["belady"] == min(cold.values())
    assert len({*cold.values()}) == len(cold)
    other = replace(on, seed=1)
    assert (only("null", other).cold != only("null", on).cold).any()


def test_following_is_the_engines_policy_at_its_barriers() -> None:
    on = setting(SWITCH, 49)
    pace = Pace(every=128)
    found = following(on, pace)
    policy = Policy([*on.boot], rows=on.rows, row_bytes=(ROW, ROW), picks_per_token=4, pace=pace)
    # The engine's first barrier is before its 128th forward.
    looks = [*range(127, 6000, 128)]
    done = replay(policy, SWITCH.ids, on.boot, every=looks, rows=on.rows, row_bytes=(ROW, ROW))
    assert (found.cold == done.cold).all()
    assert found.swaps == sum(map(len, done.swaps)) > 10
    # With a token a forward, and free rows nowhere.
    assert (found.demanded == found.cold.sum(axis=1)).all()
    assert found.ahead.sum() == found.swaps
    assert {*np.flatnonzero(found.ahead).tolist()} <= {*looks}
    assert (found.stall[24.0] == (found.demanded + found.ahead) * float(ROW) / 24e9).all()
    assert 0 <= found.wasted < found.swaps / 2


def test_what_is_promoted_and_never_picked_is_wasted() -> None:
    # One expert is picked until it is swapped in, before the 600th, and never after.
    ids = np.zeros((1200, 1, 1), np.int64)
    ids[:599] = 5
    ids[599:] = np.arange(601)[:, None, None] % 2
    on = setting(requests.recorded(ids, 8), 3)
    pace = Pace(every=600, noise=0, tokens_per_swap=0)
    found = following(on, pace)
    assert (found.swaps, found.wasted, found.ahead.sum()) == (1, 1, 1)
    ids[-1] = 5
    assert following(setting(requests.recorded(ids, 8), 3), pace).wasted == 0


def test_on_pooled_traffic_following_does_nothing() -> None:
    on = setting(POOLED, 49)
    found = following(on)
    assert found.swaps == 0
    assert (found.cold == only("fixed", on).cold).all()
    assert found.moved == only("fixed", on).moved
    # Each request has favourites; together they have none.
    one = counted(POOLED.ids[POOLED.request == 0], 64)
    assert (one > 0).sum(axis=1).max() <= 32
    assert counted(POOLED.ids, 64).max() < 1.25 * POOLED.ids.size / 128


def test_rows_are_read_once_by_a_forward_of_many_requests() -> None:
    fixed = only("fixed", setting(POOLED, 49))
    assert len(fixed.demanded) == len(forward_starts(POOLED.forward)) == 320
    assert fixed.demanded.max() <= 2 * (64 - 49)
    assert fixed.demanded.sum() < fixed.cold.sum()


def test_two_that_alternate_do_not_thrash() -> None:
    found = requests.recorded(traffic.thrash(8192, 2, 64, 4, hot=49), 64)
    on = setting(found, 49)
    followed, fixed = following(on), only("fixed", on)
    # Whichever of the two has the row, as much is cold.
    assert followed.swaps == 0
    assert followed.moved == fixed.moved == fixed.cold.sum() > 0


@pytest.mark.parametrize("change", [{"row": 0}, {"links": ()}, {"links": (0.0,)}, {"boot": None}])
def test_a_setting_that_cannot_be(change: dict[str, Any]) -> None:
    if "boot" in change:
        change = {"boot": np.ones((2, 64), np.bool_)}
    with pytest.raises(ValueError, match="rows"):
        setting(SWITCH, 49, **change)
