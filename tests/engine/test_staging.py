"""Cold rows that are staged for prefill: the answers of the pin, and the bytes of the arithmetic."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lanewright.serve.features import without_features
from lanewright.serve.recipes import RECIPES
from tests.engine.lane_python import Laid

MODEL = RECIPES["qwen3-moe-long"]
K, LAYERS, EXPERTS = (
    int(MODEL[name]) for name in ("num_experts_per_tok", "num_hidden_layers", "num_experts")
)
HOT = 12
COLD = EXPERTS - HOT
# What the bytes say of traffic that picks every expert alike; measured traffic would move it.
LEAST = 5
# gate, up and down of bfloat16.
ROW = 2 * 3 * int(MODEL["hidden_size"]) * int(MODEL["moe_intermediate_size"])
LENGTHS = [1, 8, 64, 65, 512, 4096]
REPLAYED = [8, 64, 65]
MIXED = [1, 8, 64, 65, 512, 700, 33, 5, 1000, 129, 16, 300, 77, 2, 450, 260]
SWAPS = ["expert_bank_force", 4, 2, 20261202]
Found = Mapping[str, Any]
PLAIN, IN_PLACE, STAGED, SWAPPED = "plain", "in_place", "staged", "swapped"


def asked_of(
    lane: Laid, engine: Mapping[str, object], alone: list[int], together: list[int], tokens: int
) -> list[dict[str, Any]]:
    """The pin's engine, and the lane's: nothing staged, all that pays, and the same amid swaps."""
    lanes = {**lane.lane.engine, "max_num_seqs": 16, "moe_usage_counter": None, **engine}
    plain = {**without_features(lanes), "moe_usage_counter": None}
    asked = {"alone": alone, "together": together, "shared": 96, "tokens": tokens}
    replayed = {PLAIN: REPLAYED, STAGED: REPLAYED}
    calls = {
        PLAIN: [],
        IN_PLACE: [["expert_bank_stage", False, None]],
        STAGED: [["expert_bank_stage", True, LEAST]],
        SWAPPED: [["expert_bank_stage", True, LEAST], SWAPS],
    }
    return [
        {
            "name": name,
            "engine": plain if name == PLAIN else lanes,
            "calls": each,
            "replayed": replayed.get(name, []),
            **asked,
        }
        for name, each in calls.items()
    ]


def short(mode: str) -> Any:  # noqa: ANN401 - pytest's
    return pytest.param(
        (mode, [1, 8, 64, 65], [1, 8, 64, 65], 4), id=f"{mode}-short", marks=pytest.mark.engine
    )


def long(mode: str) -> Any:  # noqa: ANN401 - the same
    return pytest.param(
        (mode, LENGTHS, MIXED, 32), id=f"{mode}-long", marks=pytest.mark.engine_full
    )


MODES: Mapping[str, Mapping[str, object]] = {
    "whole": {
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "max_num_batched_tokens": 8192,
    },
    "chunked": {
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "max_num_batched_tokens": 48,
    },
    "cached": {"enforce_eager": True, "enable_prefix_caching": True, "block_size": 32},
    "compiled": {"enforce_eager": False, "enable_prefix_caching": False},
}


# The short form of two that have the most in them.
SHORT = ("chunked", "compiled")


@pytest.fixture(scope="module", params=[*map(short, SHORT), *map(long, MODES)])
def found(
    request: pytest.FixtureRequest,
    laid: Callable[..., Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> Mapping[str, Found]:
    """What each engine answered, staged and counted."""
    mode, alone, together, tokens = request.param
    lane = laid("0.32.0", "cpu-staging")
    jobs = asked_of(lane, MODES[mode], alone, together, tokens)
    folder = tmp_path_factory.mktemp("staging")
    given = lane.run_jobs(
        "staged_answers.py", jobs, folder=folder, environ={"EXPERT_BANK_POISON": "1"}
    )
    assert all(each["compiled"] == (mode == "compiled") for each in given.values())
    hits = [sum(one["cached"] for one in each["asked"]) for each in given.values()]
    assert all((found > 0) == (mode == "cached") for found in hits), hits
    return given


def test_answers_are_the_pins(found: Mapping[str, Found]) -> None:
    for name in (IN_PLACE, STAGED, SWAPPED):
        for ours, theirs in zip(found[name]["asked"], found[PLAIN]["asked"], strict=True):
            assert ours["ids"] == theirs["ids"], (name, ours["lengths"])
            assert ours["bits"] == theirs["bits"], (name, ours["lengths"])
    assert found[SWAPPED]["banks"]["swaps"] > 0
    tokens = {i for each in found[PLAIN]["asked"] for ids in each["ids"] for i in ids}
    assert len(tokens) > 16


def test_steps_are_of_the_kinds_that_the_mode_is_for(
    request: pytest.FixtureRequest, found: Mapping[str, Found]
) -> None:
    """Without prompts in chunks, and steps that compute one and decode others, nothing is shown of them."""
    mode = request.node.callspec.params["found"][0]
    budget = int(str(MODES[mode].get("max_num_batched_tokens", 1 << 30)))
    for name in (STAGED, SWAPPED):
        *alone, together = found[name]["asked"]
        for each in alone:
            (length,) = each["lengths"]
            prefills = [s for s in each["steps"] if s["prefill"]]
            assert len(prefills) == -(-length // budget), (name, length)
            assert not any(s["decode"] for s in prefills)
            assert (staged_steps(each) != []) == (length >= LEAST), (name, length)
        assert staged_steps(together)
        mixed = [s for s in staged_steps(together) if s["decode"]]
        assert bool(mixed) or mode != "chunked", together["steps"]


def staged_steps(asked: Mapping[str, Any]) -> list[Any]:
    """Of the steps, those that are to be staged."""
    return [s for s in asked["steps"] if s["prefill"] and s["tokens"] >= LEAST]


def test_bytes_are_those_of_the_arithmetic(found: Mapping[str, Found]) -> None:
    for name in (STAGED, SWAPPED):
        for each in found[name]["asked"]:
            before, after = each["before"]["staging"], each["after"]["staging"]
            staged = staged_steps(each)
            steps = after["steps"] - before["steps"]
            assert steps == len(staged), (name, each["lengths"], each["steps"])
            assert after["tokens"] - before["tokens"] == sum(s["tokens"] for s in staged)
            assert after["rows"] - before["rows"] == steps * LAYERS * COLD
            assert after["bytes"] - before["bytes"] == steps * LAYERS * COLD * ROW
            assert after["late"] == after["failed"] == 0


def test_nothing_is_staged_in_decode_nor_where_it_is_switched_off(
    found: Mapping[str, Found],
) -> None:
    for each in found[STAGED]["asked"]:
        before, after = each["before"]["staging"], each["after"]["staging"]
        refused = {w: n - before["refused"][w] for w, n in after["refused"].items()}
        assert refused["decode"] == sum(not s["prefill"] for s in each["steps"])
        assert refused["below_threshold"] == sum(
            s["prefill"] and s["tokens"] < LEAST for s in each["steps"]
        )
        assert refused["switched_off"] == refused["captured"] == refused["unfilled"] == 0
        assert refused["failed"] == 0
    off = found[IN_PLACE]["banks"]["staging"]
    assert (off["steps"], off["bytes"]) == (0, 0)
    assert off["refused"]["switched_off"] > 0


def test_what_a_graph_replays_is_read_in_place(found: Mapping[str, Found]) -> None:
    both = 0
    for each, theirs in zip(found[STAGED]["replayed"], found[PLAIN]["replayed"], strict=True):
        assert each["ids"] == theirs["ids"], each["lengths"]
        assert each["bits"] == theirs["bits"], each["lengths"]
        prefill = [s for s in each["steps"] if s["prefill"]]
        captured = [s for s in prefill if s["captured"]]
        staged = [s for s in prefill if not s["captured"] and s["tokens"] >= LEAST]
        before, after = each["before"]["staging"], each["after"]["staging"]
        refused = {w: n - before["refused"][w] for w, n in after["refused"].items()}
        assert refused["captured"] == len(captured)
        assert refused["below_threshold"] == len(prefill) - len(captured) - len(staged)
        assert refused["decode"] == len(each["steps"]) - len(prefill)
        assert after["steps"] - before["steps"] == len(staged)
        assert after["tokens"] - before["tokens"] == sum(s["tokens"] for s in staged)
        assert after["bytes"] - before["bytes"] == len(staged) * LAYERS * COLD * ROW
        assert (after["off"], after["failed"]) == ("", 0)
        both |= bool(staged) + 2 * any(s["tokens"] >= LEAST for s in captured)
    assert both == 3, "steps of either kind would be staged, but for a graph"


def test_every_pick_was_counted(found: Mapping[str, Found]) -> None:
    for name in (IN_PLACE, STAGED, SWAPPED):
        banks = found[name]["banks"]
        asked = *found[name]["asked"], *found[name]["replayed"]
        tokens = sum(s["tokens"] for each in asked for s in each["steps"])
        assert banks["hot_picks"] + banks["cold_picks"] == tokens * K * LAYERS
        assert banks["audit"] == []
        assert banks["failed"] == 0
