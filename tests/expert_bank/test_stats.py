"""What is told of a map, in numbers that can be worked out by hand."""

import json
import os

import numpy as np
import pytest

from expert_bank.config import SERVER
from expert_bank.stats import late_shares, layer_shares, snapshot
from expert_bank.stats_file import checked
from tests.expert_bank.watched import ROW, Banks


def test_a_map_that_stands_still_tells_its_picks_and_no_late_shares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SERVER, "a-server")
    banks = Banks()
    banks.serve([5, 1, 3, 1])
    found = snapshot(banks, "m")  # type: ignore[arg-type]
    assert checked(json.loads(json.dumps(found))) == found
    assert (found["model"], found["server"], found["pid"]) == ("m", "a-server", os.getpid())
    assert (found["state"], found["frozen"]) == ("still", False)
    assert found["guard"] == {"trusted": None, "fallbacks": 0, "returns": 0}
    assert (found["forwards"], found["tokens"], found["picks_per_token"]) == (1, 5, 2)
    nothing = {"late": None, "boot": None, "oracle": None}
    assert found["cold"] == {"so_far": 0.4, **nothing, "null": None}
    assert found["regret"] == {"late": None, "served": 0, "oracle": 0}
    assert found["layers"] == [
        {
            "name": f"layers.{layer}",
            "experts": 4,
            "hot_rows": 2,
            "hot_experts": 2,
            "row_bytes": ROW,
            "hot_picks": 6,
            "cold_picks": 4,
            "swaps": 0,
            "cold": nothing,
        }
        for layer in range(2)
    ]


def test_what_was_done_is_told_after_following_ends_and_when_it_begins_anew() -> None:
    banks = Banks()
    banks.follow()
    banks.following.seconds, banks.following.drain_seconds = 1.5, 4.5
    banks.following.policy.late.cold[:, 0] = 7, 70, 6
    banks.following.policy.guard.fallbacks, banks.following.policy.guard.returns = 3, 2
    banks.following.policy.held_back = 5

    def told(waiting: int, trusted: object, seconds: float, *counts: int) -> None:
        found = snapshot(banks, "m")  # type: ignore[arg-type]
        assert found["swapping"]["waiting"] == waiting
        assert found["deciding_seconds"] == seconds
        assert found["following_drain_seconds"] == 3 * seconds
        assert found["guard"] == {
            "trusted": trusted,
            "fallbacks": counts[0],
            "returns": counts[1],
        }
        assert found["regret"] == {"late": None, "served": counts[2], "oracle": counts[3]}

    told(5, True, 1.5, 3, 2, 7, 6)  # noqa: FBT003 - as JSON has it
    banks.earlier, banks.following = banks.followed, None
    told(0, None, 1.5, 3, 2, 7, 6)
    banks.follow()
    told(0, True, 1.5, 3, 2, 7, 6)  # noqa: FBT003 - the same
    banks.following.seconds, banks.following.drain_seconds = 0.25, 0.75
    banks.following.policy.late.cold[:, 1] = 1, 10, 2
    banks.following.policy.guard.fallbacks = 1
    told(0, True, 1.75, 4, 2, 8, 8)  # noqa: FBT003 - the same


def test_a_model_has_the_name_it_is_served_under_or_its_own() -> None:
    banks = Banks()
    found = snapshot(banks, "/models/m", served_as="m", engine=3)  # type: ignore[arg-type]
    assert (found["model"], found["served_as"], found["engine"]) == ("/models/m", "m", 3)
    found = snapshot(banks, "/models/m")  # type: ignore[arg-type]
    assert (found["served_as"], found["engine"]) == ("/models/m", 0)


def test_before_the_first_pick_no_share_is_made_up() -> None:
    banks = Banks()
    banks.follow()
    found = snapshot(banks, "m")  # type: ignore[arg-type]
    assert {*found["cold"].values()} == {None}
    assert found["regret"]["late"] is None
    assert found["layers"][0]["cold"] == {"late": None, "boot": None, "oracle": None}


def test_late_shares_are_of_the_map_the_boot_map_the_oracle_and_the_null() -> None:
    banks = Banks()
    banks.follow(half_life=2**40)
    banks.following.policy.frozen = True
    for layer, state in enumerate([[0, 0, 1, 1], [0, 1, 0, 1]]):
        banks.map[layer] = state
    # The last ones are not read yet. The second ones are held against the first ones' best map.
    banks.serve(np.array([[4, 1, 3, 2], [0, 0, 0, 10]]))
    banks.serve(np.array([[1, 4, 3, 2], [5, 0, 5, 0]]))
    banks.serve(np.zeros((2, 4), np.int64))
    found = snapshot(banks, "m")  # type: ignore[arg-type]
    assert [each["cold"] for each in found["layers"]] == [
        {"late": pytest.approx(0.5), "boot": pytest.approx(0.5), "oracle": pytest.approx(11 / 20)},
        {
            "late": pytest.approx(0.5),
            "boot": pytest.approx(15 / 20),
            "oracle": pytest.approx(15 / 20),
        },
    ]
    assert found["cold"] == {
        "so_far": 0.5,
        "late": pytest.approx(0.5),
        "boot": pytest.approx(25 / 40),
        "oracle": pytest.approx(26 / 40),
        "null": 0.5,
    }
    assert found["regret"] == {"late": pytest.approx(-6 / 40), "served": 20, "oracle": 26}
    assert checked(json.loads(json.dumps(found))) == found


def test_layers_shares_sum_to_those_of_the_whole() -> None:
    banks = Banks(layers=3, experts=8, hot=3)
    banks.follow()
    rng = np.random.default_rng(0)
    for _ in range(5):
        banks.serve(rng.permuted(np.tile([9, 0, 2, 7, 1, 8, 3, 6], (3, 1)), axis=1))
    policy = banks.following.policy
    whole = late_shares(policy)
    layers = layer_shares(policy, 3)
    for name in ("late", "boot", "oracle"):
        # Every layer has as many picks.
        assert sum(each[name] or 0 for each in layers) / 3 == pytest.approx(whole[name])
        assert len({each[name] for each in layers}) > 1


def test_each_state_has_its_word() -> None:
    banks = Banks()
    told = []

    def tell() -> None:
        told.append(snapshot(banks, "m")["state"])  # type: ignore[arg-type]

    tell()
    banks.follow()
    tell()
    banks.following.policy.guard.trusted = False
    tell()
    banks.following.policy.frozen = True
    tell()
    banks.following.ended = "a count was lost"
    tell()
    banks.barrier.source = object()
    tell()
    assert told == ["still", "follows", "boot map", "frozen", "ended", "swapped at random"]
