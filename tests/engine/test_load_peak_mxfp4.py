"""The same of packed experts: weights and scales of one layer are raw, of one repacked, and no more.

Any CPU will do: where vLLM's build has no op that repacks, the lane's shim brings one that copies.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from lanewright.serve.recipes import RECIPES
from tests.engine.lane_python import Laid
from tests.engine.load_rule import LoadRule

pytestmark = pytest.mark.engine

MODEL = RECIPES["qwen3-moe-mxfp4-tiny"]
LAYERS, EXPERTS, HOT = MODEL["num_hidden_layers"], MODEL["num_experts"], 12
WEIGHTS = 3 * MODEL["hidden_size"] * MODEL["moe_intermediate_size"]
# Two weights a byte, and a byte for the scale of 32 of them.
ROW = WEIGHTS // 2 + WEIGHTS // 32
LAYER = EXPERTS * ROW
# The least of an expert's row tensors: the scales of w2.
LEAST = ROW // 3 // 17
TENSORS = 4
PAGE = 4096
# The lane does not carry the counter.
EAGER = {"enforce_eager": True, "moe_usage_counter": None}
BANKED = {**EAGER, "moe_hot_experts": str(HOT)}
# int32[4, E] a layer.
TABLES = LAYERS * 4 * EXPERTS * 4
# Products of all words of w13, the factors of one row of them, and the sums that stay; int64 all.
WORDS = 2 * MODEL["hidden_size"] * MODEL["moe_intermediate_size"] // 2 // 4
SUMS = 8 * (EXPERTS * WORDS + WORDS + LAYERS * EXPERTS * TENSORS)
# Each holds rows beside the two layers, and by which part of the rule it shows.
PLANTS = {
    "cloned by expert": "gathered",
    "cloned in fill": "banked",
    "a row cloned in fill": "banked",
}
COLD = {"mirror": EXPERTS, "exclusive": EXPERTS - HOT + 1}
Found = Mapping[str, Any]


@pytest.fixture(scope="module")
def found(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    """What every load showed."""
    common = {"least": LEAST}
    jobs = [
        *({"name": mode, "engine": {**BANKED, "moe_cold_rows": mode}, **common} for mode in COLD),
        {"name": "planted", "engine": BANKED, "keeps": 1, **common},
        *({"name": plant, "engine": BANKED, "plant": plant, **common} for plant in PLANTS),
    ]
    folder = tmp_path_factory.mktemp("load_peak_mxfp4")
    packed = laid("0.32.0", "cpu-mxfp4")
    results = packed.run_jobs("load_peak.py", jobs, folder=folder)
    pin = Laid(replace(packed.lane, env=packed.lane.pin), packed.model)
    resident = {"name": "resident", "engine": EAGER, **common}
    (folder / "pin").mkdir()
    return results | pin.run_jobs("load_peak.py", [resident], folder=folder / "pin")


def require_banks(facts: Found, cold: int) -> None:
    """All layers came into banks of the size of the arithmetic, scales too."""
    assert facts["refused"] is None
    bank = (HOT + cold) * ROW
    assert facts["banks"] == [-(-bank // PAGE) * PAGE] * LAYERS


def rule(found: dict[str, Found]) -> LoadRule:
    return LoadRule(LAYER, TABLES, SUMS, beside=found["resident"]["alive"]["other"])


@pytest.mark.parametrize("mode", COLD)
def test_weights_and_scales_of_one_layer_are_raw_and_of_one_repacked(
    found: dict[str, Found], mode: str
) -> None:
    facts = found[mode]
    require_banks(facts, COLD[mode])
    assert facts["alive"]["raw"] == facts["alive"]["repacked"] == LAYER  # all of it was seen
    assert not rule(found).broken(facts), facts


def test_a_layer_that_is_kept_shows(found: dict[str, Found]) -> None:
    facts = found["planted"]
    require_banks(facts, COLD["mirror"])
    assert facts["most"]["raw"] == 2
    assert rule(found).broken(facts) == {"raw layers", "peak"}


@pytest.mark.parametrize("plant", PLANTS)
def test_rows_beside_the_two_layers_show(found: dict[str, Found], plant: str) -> None:
    facts = found[plant]
    require_banks(facts, COLD["mirror"])
    assert PLANTS[plant] in rule(found).broken(facts), facts
