"""The same of packed experts: weights and scales of one layer are raw, of one repacked, and no more.

Any CPU will do: where vLLM's build has no op that repacks, the lane's shim brings one that copies.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lanewright.serve.recipes import RECIPES
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

MODEL = RECIPES["qwen3-moe-mxfp4-tiny"]
LAYERS, EXPERTS, HOT = MODEL["num_hidden_layers"], MODEL["num_experts"], 12
WEIGHTS = 3 * MODEL["hidden_size"] * MODEL["moe_intermediate_size"]
# Two weights a byte, and a byte for the scale of 32 of them.
ROW = WEIGHTS // 2 + WEIGHTS // 32
LAYER = EXPERTS * ROW
# The least of a layer's tensors: the scales of w2.
LEAST = LAYER // 3 // 17
TENSORS = 4
PAGE = 4096
# The lane does not carry the counter.
BANKED = {"enforce_eager": True, "moe_hot_experts": str(HOT), "moe_usage_counter": None}
RULE = 2 * LAYER  # one raw, one repacked
COLD = {"mirror": EXPERTS, "exclusive": EXPERTS - HOT + 1}
Found = Mapping[str, Any]


@pytest.fixture(scope="module")
def found(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    """What every load showed."""
    common = {"least": LEAST, "packed": True}
    jobs = [
        *({"name": mode, "engine": {**BANKED, "moe_cold_rows": mode}, **common} for mode in COLD),
        {"name": "planted", "engine": BANKED, "keeps": 1, **common},
    ]
    folder = tmp_path_factory.mktemp("load_peak_mxfp4")
    return laid("0.32.0", "cpu-mxfp4").run_jobs("load_peak.py", jobs, folder=folder)


def require_banks(facts: Found, cold: int) -> None:
    """All layers came into banks of the size of the arithmetic, scales too."""
    assert facts["refused"] is None
    bank = (HOT + cold) * ROW
    assert facts["banks"] == [-(-bank // PAGE) * PAGE] * LAYERS


@pytest.mark.parametrize("mode", COLD)
def test_weights_and_scales_of_one_layer_are_raw_and_of_one_repacked(
    found: dict[str, Found], mode: str
) -> None:
    facts = found[mode]
    require_banks(facts, COLD[mode])
    assert facts["seen"] >= 2 * TENSORS * LAYERS, facts  # each, raw and repacked
    assert facts["most"]["raw"] == facts["most"]["repacked"] == 1, facts
    assert LAYER < facts["peak"] <= RULE, facts["made_of"]


def test_a_layer_that_is_kept_shows(found: dict[str, Found]) -> None:
    facts = found["planted"]
    require_banks(facts, COLD["mirror"])
    assert facts["most"]["raw"] == 2
    assert facts["peak"] > RULE
