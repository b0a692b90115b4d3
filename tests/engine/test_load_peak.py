"""While a model is loaded into two banks, one layer is raw and one repacked, and no more.

Everything from one expert's row of the smallest tensor on is recorded, as torch's operators allocate it;
what a kernel of vLLM's takes within a call is seen in ``test_load_rss.py``.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from expert_bank.sizes import told as size
from lanewright.serve.recipes import RECIPES
from tests.engine.checkpoints import spread
from tests.engine.lane_python import Laid
from tests.engine.load_rule import LoadRule

pytestmark = pytest.mark.engine

MODEL = RECIPES["qwen3-moe-tiny"]
LAYERS, EXPERTS, HOT = MODEL["num_hidden_layers"], MODEL["num_experts"], 12
ROW_W2 = 2 * MODEL["hidden_size"] * MODEL["moe_intermediate_size"]  # bfloat16
ROW = 3 * ROW_W2
LAYER = EXPERTS * ROW
PAGE = 4096
EAGER = {"enforce_eager": True}
BANKED = {**EAGER, "moe_hot_experts": str(HOT), "moe_usage_counter": False}
# Products of 2**17 words, and the factors of those of a row of w13; int64 both.
SUMS = 8 * (2**17 + 2 * ROW_W2 // 4)
# Each holds rows beside the two layers, and by which part of the rule it shows.
PLANTS = {
    "cloned by expert": "gathered",
    "cloned in fill": "banked",
    "a row cloned in fill": "banked",
    "cloned in sums": "summed",
    "cloned at the end": "other",
}
COLD = {"mirror": EXPERTS, "exclusive": EXPERTS - HOT + 1}
Found = Mapping[str, Any]


def layer_of(weight: str) -> int:
    return int(weight.split(".")[2])


def expert_of(weight: str) -> int:
    return int(weight.split(".")[5])


def by_pairs(weight: str) -> int:
    """Two layers a pair of files, each of which has every second expert of both."""
    if ".experts." not in weight:
        return 1
    return 1 + 2 * (layer_of(weight) // 2) + expert_of(weight) % 2


def by_expert(weight: str) -> int:
    """Every second expert of all layers a file."""
    return 1 + expert_of(weight) % 2 if ".experts." in weight else 1


@pytest.fixture(scope="module")
def found(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    """What every load showed; vLLM is imported once for all but the pin's."""
    folder = tmp_path_factory.mktemp("load_peak")
    two_bank = laid("0.32.0", "cpu-twobank")
    pairs = spread(two_bank.model, folder / "pairs", by_pairs)
    apart = spread(two_bank.model, folder / "apart", by_expert)
    common = {"least": ROW_W2}
    jobs = [
        *({"name": mode, "engine": {**BANKED, "moe_cold_rows": mode}, **common} for mode in COLD),
        {"name": "planted", "engine": BANKED, "keeps": 1, **common},
        *({"name": plant, "engine": BANKED, "plant": plant, **common} for plant in PLANTS),
        {"name": "pairs", "engine": BANKED, "model": str(pairs), **common},
        {"name": "apart", "engine": BANKED, "model": str(apart), **common},
        {"name": "too much", "engine": BANKED, "free": 9 * LAYER, **common},
        {
            "name": "too many wait",
            "engine": BANKED,
            "model": str(apart),
            "free": 11 * LAYER,
            **common,
        },
    ]
    results = two_bank.run_jobs("load_peak.py", jobs, folder=folder)
    pin = Laid(replace(two_bank.lane, env=two_bank.lane.pin), two_bank.model)
    resident = {"name": "resident", "engine": EAGER, **common}
    (folder / "pin").mkdir()
    return results | pin.run_jobs("load_peak.py", [resident], folder=folder / "pin")


def require_banks(facts: Found, cold: int) -> None:
    """All layers came into banks of the size of the arithmetic."""
    assert facts["refused"] is None
    bank = (HOT + cold) * ROW
    assert facts["banks"] == [-(-bank // PAGE) * PAGE] * LAYERS


def rule(found: dict[str, Found]) -> LoadRule:
    """A table is smaller than what is recorded."""
    return LoadRule(LAYER, tables=0, sums=SUMS, beside=found["resident"]["alive"]["other"])


def lines(facts: Found) -> list[str]:
    return [each for each in facts["events"] if each.startswith("expert_bank: ")]


@pytest.mark.parametrize("mode", COLD)
def test_one_layer_is_raw_and_one_repacked(found: dict[str, Found], mode: str) -> None:
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


def test_unpatched_vllm_has_every_layer_raw(found: dict[str, Found]) -> None:
    facts = found["resident"]
    assert facts["refused"] is None
    assert facts["banks"] == []
    assert facts["most"]["raw"] == LAYERS
    assert facts["peak"] > LAYERS * LAYER


@pytest.mark.parametrize(("checkpoint", "waiting"), [("pairs", 2), ("apart", LAYERS)])
def test_layers_wait_raw_where_a_checkpoint_has_them_in_several_files(
    found: dict[str, Found], checkpoint: str, waiting: int
) -> None:
    facts = found[checkpoint]
    require_banks(facts, COLD["mirror"])
    assert facts["most"]["raw"] == waiting
    assert facts["most"]["repacked"] == 1
    assert waiting * LAYER < facts["peak"] <= (waiting + 1) * LAYER, facts["made_of"]
    assert rule(found).broken(facts) <= {"raw layers", "peak"}, facts


@pytest.mark.parametrize(
    ("checkpoint", "waiting"), [("mirror", 1), ("pairs", 2), ("apart", LAYERS)]
)
def test_the_log_says_how_many_waited(
    found: dict[str, Found], checkpoint: str, waiting: int
) -> None:
    told = lines(found[checkpoint])
    cold, raw = LAYERS * LAYER, waiting * LAYER
    most = (
        f"at most {waiting} of {LAYERS} layers raw at once, {size(raw)} of host memory while"
        f" loading; with the cold bank {size(cold + raw)}"
    )
    assert f"expert_bank: {most}" in told
    begun = [each for each in told if "while others wait" in each]
    assert len(begun) == waiting - 1
    assert not begun or begun[-1].endswith(most)


def test_the_plan_is_told_before_the_first_row_is_loaded(found: dict[str, Found]) -> None:
    events = found["mirror"]["events"]
    first = events.index("weight")
    before = [each for each in events[:first] if each.startswith("expert_bank: ")]
    hot = f"expert_bank: hot: {LAYERS * HOT} of {LAYERS * EXPERTS} experts"
    assert any(each.startswith(hot) for each in before)
    terms = [" ".join(each.split()[1:]) for each in before]
    assert f"{size(LAYERS * LAYER)} cold bank, mirror" in terms
    assert f"{size(LAYER)} one layer raw, while loading" in terms
    assert any("uniform traffic" in each for each in before)


def test_what_does_not_fit_is_refused_before_anything_is_loaded(found: dict[str, Found]) -> None:
    facts = found["too much"]
    assert "does not fit" in facts["refused"]
    assert "cold bank, mirror" in "".join(lines(facts))
    assert "weight" not in facts["events"]
    assert facts["banks"] == []
    assert set(facts["alive"]) == {"other"}, facts["made_of"]


def test_more_waiting_layers_than_fit_are_refused(found: dict[str, Found]) -> None:
    facts = found["too many wait"]
    assert "does not fit" in facts["refused"]
    assert f"at most 3 of {LAYERS} layers raw at once" in facts["refused"]
    assert facts["banks"] == []
    assert facts["most"]["raw"] == 2
