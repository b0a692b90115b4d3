"""What is told of a map, in numbers that can be worked out by hand."""

import json
import os

import pytest

from expert_bank.config import SERVER
from expert_bank.stats import layer_shares, snapshot
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
    assert found["regret"] == {"late": None, "picks": 0.0}
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
    banks.following.seconds, banks.following.policy.regret_picks = 1.5, 7
    banks.following.policy.guard.fallbacks, banks.following.policy.guard.returns = 3, 2
    banks.following.policy.held_back = 5

    def told(waiting: int, trusted: object, seconds: float, *counts: int) -> None:
        found = snapshot(banks, "m")  # type: ignore[arg-type]
        assert found["swapping"]["waiting"] == waiting
        assert found["deciding_seconds"] == seconds
        assert found["guard"] == {
            "trusted": trusted,
            "fallbacks": counts[0],
            "returns": counts[1],
        }
        assert found["regret"]["picks"] == counts[2]

    told(5, True, 1.5, 3, 2, 7)  # noqa: FBT003 - as JSON has it
    banks.earlier, banks.following = banks.followed, None
    told(0, None, 1.5, 3, 2, 7)
    banks.follow()
    told(0, True, 1.5, 3, 2, 7)  # noqa: FBT003 - the same
    banks.following.seconds, banks.following.policy.regret_picks = 0.25, 1
    banks.following.policy.guard.fallbacks = 1
    told(0, True, 1.75, 4, 2, 8)  # noqa: FBT003 - the same


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
    banks.follow(tokens_per_swap=0)
    banks.following.policy.scores[:] = [[4, 1, 3, 2], [0, 0, 0, 10]]
    banks.map[0] = [False, False, True, True]
    found = snapshot(banks, "m")  # type: ignore[arg-type]
    assert [each["cold"] for each in found["layers"]] == [
        {"late": 0.5, "boot": 0.5, "oracle": pytest.approx(0.3)},
        {"late": 1.0, "boot": 1.0, "oracle": 0.0},
    ]
    assert found["cold"] == {
        "so_far": None,
        "late": pytest.approx(0.75),
        "boot": pytest.approx(0.75),
        "oracle": pytest.approx(0.15),
        "null": 0.5,
    }
    assert found["regret"]["late"] == pytest.approx(0.6)


def test_layers_shares_sum_to_those_of_the_whole() -> None:
    banks = Banks(layers=3, experts=8, hot=3)
    banks.follow()
    banks.serve([9, 0, 2, 7, 1, 8, 3, 6], 5)
    policy, hot = banks.following.policy, banks.table.is_hot()
    whole = policy.scores.sum()
    for of, name in (("late", "cold"), ("boot", "boot"), ("oracle", "oracle")):
        parts = zip(layer_shares(policy, hot), policy.scores, strict=True)
        summed = sum((shares[of] or 0) * scores.sum() for shares, scores in parts)
        assert summed / whole == pytest.approx(policy.shares(hot)[name])


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
