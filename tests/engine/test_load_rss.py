"""A model with gigabytes of experts takes its banks, a layer raw and one repacked, by the kernel's count."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from lanewright.serve.model import make
from lanewright.serve.recipes import RECIPES
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine_full

RECIPE = {
    **RECIPES["qwen3-moe-tiny"],
    "hidden_size": 1024,
    "moe_intermediate_size": 1376,
    "num_experts": 64,
}
LAYERS, EXPERTS = RECIPE["num_hidden_layers"], RECIPE["num_experts"]
ROW = 3 * 2 * RECIPE["hidden_size"] * RECIPE["moe_intermediate_size"]  # bfloat16
LAYER = EXPERTS * ROW
# Weights that are no experts, the largest part of a layer that is summed at once, and what Python
# and the allocator take; far less than a layer.
TOLERANCE = 128 * 2**20
EAGER = {"enforce_eager": True, "max_num_seqs": 4}
# Hot and cold rows of a layer that are in memory.
BANKED = {"mirror": (16, EXPERTS), "exclusive": (48, EXPERTS - 48 + 1), "file": (16, 0)}


@pytest.fixture(scope="module")
def found(
    laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Mapping[str, Any]]:
    """What every load took."""
    folder = tmp_path_factory.mktemp("load_rss")
    model = folder / "model"
    two_bank = laid("0.32.0", "cpu-twobank")
    make(two_bank.lane.env, json.dumps(RECIPE), model)

    def job(name: str, mode: str, **more: object) -> dict[str, Any]:
        engine = {
            **EAGER,
            "moe_hot_experts": str(BANKED[mode][0]),
            "moe_cold_rows": mode,
            "moe_usage_counter": False,
        }
        return {"name": name, "engine": engine, "model": str(model), **more}

    jobs = [*(job(mode, mode) for mode in BANKED), job("planted", "exclusive", keeps=1)]
    results = two_bank.run_jobs("load_rss.py", jobs, folder=folder)
    pin = Laid(replace(two_bank.lane, env=two_bank.lane.pin), model)
    (folder / "pin").mkdir()
    resident = [{"name": "resident", "engine": EAGER}]
    results |= pin.run_jobs("load_rss.py", resident, folder=folder / "pin")
    for name, seen in results.items():
        taken = {key: f"{seen[key] / 2**20:.0f} MiB" for key in ("before", "peak", "file", "banks")}
        print(name, taken, f"{seen['samples']} samples in {seen['seconds']:.1f} s")  # noqa: T201
    return results


def test_the_model_has_gigabytes_of_experts() -> None:
    assert LAYERS * LAYER >= 2 * 2**30
    assert LAYER > 3 * TOLERANCE


@pytest.mark.parametrize("mode", BANKED)
def test_the_peak_is_the_banks_a_layer_raw_and_one_repacked(
    found: dict[str, Mapping[str, Any]], mode: str
) -> None:
    seen = found[mode]
    hot, cold = BANKED[mode]
    assert 0 <= seen["banks"] - LAYERS * (hot + cold) * ROW < LAYERS * 4096
    taken = seen["peak"] - seen["before"]
    assert seen["banks"] <= taken <= seen["banks"] + 2 * LAYER + TOLERANCE, seen


def test_of_a_file_one_layers_cold_rows_are_in_memory_at_once(
    found: dict[str, Mapping[str, Any]],
) -> None:
    *layers, last = found["file"]["cold"]
    assert len(layers) == LAYERS
    assert all(0 <= each - LAYER < 4 * 4096 for each in layers), layers
    # All are loaded, and the reads of the last check are not begun.
    assert last == 0
    assert found["mirror"]["cold"] == []


def test_a_layer_that_is_kept_shows(found: dict[str, Mapping[str, Any]]) -> None:
    seen = found["planted"]
    assert seen["peak"] - seen["before"] > seen["banks"] + 2 * LAYER + TOLERANCE, seen


def test_unpatched_vllm_has_every_layer_raw_before_it_repacks_one(
    found: dict[str, Mapping[str, Any]],
) -> None:
    seen = found["resident"]
    taken = seen["peak"] - seen["before"]
    assert LAYERS * LAYER + ROW * EXPERTS // 3 < taken <= (LAYERS + 1) * LAYER + TOLERANCE, seen
