"""What stands against two banks is refused by name when the engine starts, or when it is asked."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.model import recipe_hash
from tests.engine.bank_refusals import (
    ASKED,
    BANKED,
    BOOTS,
    CONFIGS,
    FIRST,
    INSTEAD,
    LAYER,
    PLANTS,
    WEIGHT,
)
from tests.engine.checkpoints import dense, doubled, spread
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

OTHER = recipe_hash("qwen3-moe-mxfp4-tiny")


@pytest.fixture(scope="module")
def told(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By job, what was said."""
    on, folder = laid("0.32.0", "cpu-twobank"), tmp_path_factory.mktemp("refused")
    no_mixture = str(dense(on.model, folder / "dense"))
    draft = {"method": "draft_model", "model": str(on.model), "num_speculative_tokens": 3}
    lacking = str(without(on.model, folder))
    models: dict[str, dict[str, Any]] = {
        "lacking": {"model": lacking},
        "twice": {"model": str(doubled(on.model, folder / "twice", WEIGHT))},
        "dense": {"model": no_mixture},
        "draft alone": {"model": no_mixture, "more": {"speculative_config": draft}},
    }
    jobs = [
        *({"name": name, "engine": BANKED, "more": more} for name, (more, _) in BOOTS.items()),
        *({"name": name, "engine": BANKED, "plant": name} for name in PLANTS),
        *({"name": name, "engine": BANKED, **more} for name, more in models.items()),
        {
            "name": "another model's map",
            "engine": {**BANKED, "moe_boot_map": str(foreign(folder))},
        },
        {
            "name": "bytes before weights",
            "model": lacking,
            "engine": {**BANKED, "moe_follow": "64,bytes=49151"},
        },
        {"name": "no node", "engine": BANKED, "environ": {"EXPERT_BANK_NODE": "999"}},
        {"name": "rounded up", "engine": BANKED, "plant": "rounded_up"},
        {"name": "configs", "engine": BANKED, "configs": {n: c for n, (c, _) in CONFIGS.items()}},
        {
            "name": "after",
            "engine": BANKED,
            "after": [each for of in ASKED.values() for each in of],
        },
    ]
    return on.run_jobs("bank_refusals.py", jobs, folder=folder)


@pytest.mark.parametrize("case", BOOTS)
def test_a_set_up_is_refused_by_name(told: dict[str, Any], case: str) -> None:
    assert re.search(BOOTS[case][1], told[case] or "", re.DOTALL), told[case]


@pytest.mark.parametrize("case", PLANTS)
def test_layers_that_cannot_be_moved_are_named(told: dict[str, Any], case: str) -> None:
    said = told[case] or ""
    assert re.search(f"moe_hot_experts: .*{PLANTS[case]}", said, re.DOTALL), said


@pytest.mark.parametrize("case", CONFIGS)
def test_a_configuration_is_refused_before_anything_is_loaded(
    told: dict[str, Any], case: str
) -> None:
    said = told["configs"][case] or ""
    assert re.search(f"^Refused: moe_hot_experts: .*{CONFIGS[case][1]}", said), said
    assert re.search(INSTEAD, said), said


def test_a_checkpoint_that_lacks_a_weight_or_has_it_twice(told: dict[str, Any]) -> None:
    assert "w13_weight: the checkpoint has no weight of expert 3\n" in told["lacking"]
    layer = LAYER.format(1)
    assert re.search(rf"{layer}, expert 3: w3 of .*w13_weight came again", told["twice"])
    assert "\nmake the checkpoint again with each weight once" in told["twice"]


def test_bytes_that_take_no_swap_are_refused_before_a_row_is_loaded(told: dict[str, Any]) -> None:
    said = told["bytes before weights"]
    assert "49151 bytes a barrier take no swap of " in said
    assert ": with moe_cold_rows mirror one copies a row, 49152 bytes" in said
    assert (
        "\ngive at least 49152, leave bytes out for no bound, or end following: no moe_follow"
        in said
    )
    assert "has no weight" not in said


def test_another_models_map_and_a_node_that_is_not_there(
    told: dict[str, Any], laid: Callable[..., Laid]
) -> None:
    served = laid("0.32.0", "cpu-twobank").model
    assert f"it is of model '{OTHER}', and '{served}' is served" in told["another model's map"]
    assert "host memory cannot be on node 999" in told["no node"]


def test_host_memory_that_is_larger_than_the_rows_is_refused(told: dict[str, Any]) -> None:
    """12 hot rows and 16 cold ones of 48 KiB; all that was taken beyond them is filled, too."""
    said = told["rounded up"] or ""
    fault = (
        r"1\.31 MiB by arithmetic, but 2\.00 MiB mapped \(1\.524 of it\) and 2\.00 MiB in memory"
    )
    assert re.search(rf"{FIRST}: host memory: {fault}", said), said


def test_a_model_without_experts_is_named_and_so_is_its_draft(told: dict[str, Any]) -> None:
    assert (
        "moe_hot_experts: experts cannot be kept in two banks here: the model has no MoE layer"
        in (told["dense"])
    )
    assert re.search(
        rf"{FIRST} is none of the served model's layers, and was loaded first", told["draft alone"]
    )


def test_an_engine_that_refuses_answers_as_before(told: dict[str, Any]) -> None:
    after = told["after"]
    assert after["audit"] == []
    assert after["tokens"] == 12
    assert after["held"]
    asked = {" ".join(map(str, each)): said for said, of in ASKED.items() for each in of}
    assert [*after["found"]] == [*asked]
    for name, said in asked.items():
        found = after["found"][name]
        method = name.lstrip(".").partition(" ")[0]
        assert (
            f"{method}: {said} while experts are in two banks (moe_hot_experts)\n" in found["told"]
        )
        assert "start it without moe_hot_experts" in found["told"]
        assert found["alike"], name
        assert ("wake_up lets it answer again" in found["told"]) == (method == "sleep")


def without(model: Path, folder: Path) -> Path:
    """The lane's model, without one weight of one expert."""
    copy = spread(model, folder / "lacking", lambda name: 1 + (name == WEIGHT))
    (copy / "model-00002.safetensors").unlink()
    index = copy / "model.safetensors.index.json"
    named = json.loads(index.read_text())
    del named["weight_map"][WEIGHT]
    index.write_text(json.dumps(named))
    return copy


def foreign(folder: Path) -> Path:
    """A usage file whose layers are this model's, and which says that it is another's."""
    layers = {f"model.layers.{n}.mlp.experts.routed_experts": [1] * 16 for n in range(4)}
    path = folder / "usage.json"
    path.write_text(json.dumps({"schema": 1, "model": OTHER, "layers": layers}))
    return path
