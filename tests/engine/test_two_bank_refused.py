"""What stands against two banks is refused by name when the engine starts."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.model import recipe_hash
from tests.engine.checkpoints import spread
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

OTHER = recipe_hash("qwen3-moe-mxfp4-tiny")
LACKING = "model.layers.1.mlp.experts.3.up_proj.weight"
BANKED: Mapping[str, Any] = {
    "max_model_len": 512,
    "max_num_seqs": 16,
    "enforce_eager": True,
    "moe_usage_counter": None,
    "moe_hot_experts": "12",
}
CASES: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "expert parallelism": ({"enable_expert_parallel": True}, "expert parallelism is on"),
    "LoRA": ({"enable_lora": True}, "LoRA is on"),
    "offloading": ({"cpu_offload_gb": 1}, "vLLM's own offloading is on"),
    "hot experts": ({"moe_hot_experts": "17"}, "17 is more than layer 0's 16 experts"),
    "empty": (
        {"moe_boot_map": "empty", "moe_cold_rows": "exclusive"},
        "an empty boot map needs every expert's row in the cold bank",
    ),
    "no map": ({"moe_boot_map": "/nowhere/map.json"}, "usage file /nowhere/map.json"),
    "another number of layers": (
        {"moe_hot_experts": "16,0"},
        "it has 2 numbers, and the model 4 layers",
    ),
}


def test_by_name(laid: Callable[..., Laid], tmp_path: Path) -> None:
    on = laid("0.32.0", "cpu-twobank")
    jobs = [{"name": name, "engine": {**BANKED, **more}} for name, (more, _) in CASES.items()]
    more = (
        {"name": "lacking", "engine": BANKED, "model": str(without(on.model, tmp_path))},
        {
            "name": "another model's map",
            "engine": {**BANKED, "moe_boot_map": str(foreign(tmp_path))},
        },
        {"name": "no node", "engine": BANKED, "environ": {"EXPERT_BANK_NODE": "999"}},
    )
    found = on.run_jobs("refusals.py", [*jobs, *more], folder=tmp_path)
    told = {name: each[name] or "" for name, each in found.items()}
    wanted = {name: text for name, (_, text) in CASES.items()}
    wanted["lacking"] = "w13_weight: the checkpoint has no weight of expert 3"
    wanted["another model's map"] = f"it is of model '{OTHER}', and '{on.model}' is served"
    wanted["no node"] = "host memory cannot be on node 999"
    for name, text in wanted.items():
        assert re.search(re.escape(text), told[name]), (name, told[name])


def without(model: Path, folder: Path) -> Path:
    """The lane's model, without one weight of one expert."""
    copy = spread(model, folder / "lacking", lambda name: 1 + (name == LACKING))
    (copy / "model-00002.safetensors").unlink()
    index = copy / "model.safetensors.index.json"
    named = json.loads(index.read_text())
    del named["weight_map"][LACKING]
    index.write_text(json.dumps(named))
    return copy


def foreign(folder: Path) -> Path:
    """A usage file whose layers are this model's, and which says that it is another's."""
    layers = {f"model.layers.{n}.mlp.experts.routed_experts": [1] * 16 for n in range(4)}
    path = folder / "usage.json"
    path.write_text(json.dumps({"schema": 1, "model": OTHER, "layers": layers}))
    return path
