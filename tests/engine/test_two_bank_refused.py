"""What stands against two banks is refused by name when the engine starts, or when it is asked."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.engine.checkpoints import dense, doubled, spread
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

WEIGHT = "model.layers.1.mlp.experts.3.up_proj.weight"
LAYER = r"model\.layers\.{}\.mlp\.experts(\.routed_experts)?"
FIRST, LAST = LAYER.format(0), LAYER.format(3)
BANKED: Mapping[str, Any] = {
    "max_model_len": 512,
    "max_num_seqs": 16,
    "enforce_eager": True,
    "moe_usage_counter": None,
    "moe_hot_experts": "12",
}
BY = r"\(quantization None, UnquantizedFusedMoEMethod\)"
INSTEAD = r"\nchange that, or start without moe_hot_experts$"
# Engine arguments of a boot, and what is said against it.
BOOTS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "expert parallelism": (
        {"enable_expert_parallel": True},
        r"moe_hot_experts: .*expert parallelism is on \(enable_expert_parallel\)",
    ),
    "online quantisation": (
        {"quantization": "fp8"},
        rf"{FIRST} is quantised while it is loaded \(quantization \w+, \w+OnlineMoEMethod\){INSTEAD}",
    ),
    "hot experts": (
        {"moe_hot_experts": "17"},
        "moe_hot_experts '17': 17 is more than layer 0's 16 experts",
    ),
    "empty": (
        {"moe_boot_map": "empty", "moe_cold_rows": "exclusive"},
        "an empty boot map needs every expert's row in the cold bank\n.*moe_cold_rows mirror",
    ),
    "no map": (
        {"moe_boot_map": "/nowhere/map.json"},
        "moe_boot_map: usage file /nowhere/map.json: there is no such file",
    ),
    "another number of layers": (
        {"moe_hot_experts": "16,0"},
        "moe_hot_experts '16,0': it has 2 numbers, and the model 4 layers",
    ),
}
# How vLLM is altered before a boot (``inside/plants.py``), and what is said against it.
PLANTS: Mapping[str, str] = {
    "monolithic": rf"{FIRST} routes inside its kernel \(TrtLlmBf16ExpertsMonolithic\); .*{INSTEAD}",
    "monolithic_at_last": rf"{FIRST} routes inside its kernel \(\w+Experts\); .*{INSTEAD}",
    "uneven_picks": rf"{LAST} has 16 experts and 3 picks a token, and {FIRST} 16 experts and 4 .*{INSTEAD}",
    "uneven_experts": rf"{LAST} has 8 experts and 4 picks a token, and {FIRST} 16 .*{INSTEAD}",
    "odd_parameter": rf"{FIRST}\.w2_extra has shape \(17, 4\), .* of 16 experts.* {BY}{INSTEAD}",
    "flat": rf"{FIRST}\.w2_weight has shape \(\d+,\), .* of 16 experts.* {BY}{INSTEAD}",
    "strided": rf"{FIRST}\.w2_weight has shape .*strides .*one after another {BY}{INSTEAD}",
    "gone": rf"{FIRST} has no parameter with a row of each expert {BY}{INSTEAD}",
    "kept": rf"{FIRST}\.quant_method\.kept is a second reference to w13_weight.* {BY}{INSTEAD}",
    "unlisted": rf"{FIRST}\.row_scale has a row of each expert and is none.* {BY}{INSTEAD}",
    "shared": rf"{LAYER.format(1)}\.w2_weight is {FIRST}\.w2_weight, .* {BY}{INSTEAD}",
}
# Configurations that no engine of this machine comes up with; what is set is not accepted on a CPU.
CONFIGS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    **{
        f"load_format {name}": (
            {"engine": {"load_format": name}},
            f"load_format {name} does not load weight by weight, as auto and safetensors do",
        )
        for name in (
            *("dummy", "fastsafetensors", "hf", "instanttensor", "ipc_cache", "mistral"),
            *("modelexpress", "npcache", "pt", "runai_streamer", "runai_streamer_sharded"),
            *("sharded_state", "tensorizer"),
        )
    },
    "LoRA": ({"engine": {"enable_lora": True}}, r"LoRA is on \(enable_lora\)"),
    "offloading": (
        {"engine": {"cpu_offload_gb": 1}},
        r"vLLM's own offloading is on \(cpu_offload_gb or offload_group_size\)",
    ),
    "tensor parallelism": (
        {"engine": {"tensor_parallel_size": 2}},
        r"tensor parallelism is on \(tensor_parallel_size 2\)",
    ),
    "pipeline parallelism": (
        {"engine": {"pipeline_parallel_size": 2}},
        r"pipeline parallelism is on \(pipeline_parallel_size 2\)",
    ),
    "data parallelism": (
        {"set": {"parallel_config.data_parallel_size": 2}},
        r"other data-parallel ranks' tokens \(data_parallel_size\)",
    ),
    "context parallelism": (
        {"set": {"parallel_config.prefill_context_parallel_size": 2}},
        r"other ranks' part of a prompt \(prefill_context_parallel_size\)",
    ),
    "load balancing": (
        {"set": {"parallel_config.enable_eplb": True}},
        r"expert load balancing is on \(enable_eplb\)",
    ),
    "micro-batches": (
        {"set": {"parallel_config.enable_dbo": True}},
        r"a forward is split into micro-batches \(enable_dbo",
    ),
    "prefetch": (
        {"set": {"offload_config.prefetch.offload_group_size": 2}},
        r"offloading is on \(cpu_offload_gb or offload_group_size\)",
    ),
    "sleep mode": (
        {"set": {"model_config.enable_sleep_mode": True}},
        r"sleep mode is on \(enable_sleep_mode\)",
    ),
    "weight transfer": (
        {"set": {"weight_transfer_config": "any"}},
        r"weights are to be updated while serving \(weight_transfer_config\)",
    ),
}
# What an engine that is up is asked for; its own methods begin with a dot.
ASKED: Mapping[str, list[Any]] = {
    "the engine cannot sleep": [["sleep", 1], ["sleep", 2], [".sleep", 1], [".sleep", 2]],
    "weights cannot be reloaded": [["reload_weights"]],
    "weights cannot be updated": [["start_weight_update"], ["update_weights", {}]],
    "weights cannot be set to zero": [["reset_weights"]],
    "weights cannot be saved": [
        ["save_sharded_state", "/nowhere"],
        ["save_tensorized_model", None],
    ],
}


@pytest.fixture(scope="module")
def told(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By job, what was said."""
    on, folder = laid("0.32.0", "cpu-twobank"), tmp_path_factory.mktemp("refused")
    no_mixture = str(dense(on.model, folder / "dense"))
    draft = {"method": "draft_model", "model": str(on.model), "num_speculative_tokens": 3}
    models: dict[str, dict[str, Any]] = {
        "lacking": {"model": str(without(on.model, folder))},
        "twice": {"model": str(doubled(on.model, folder / "twice", WEIGHT))},
        "dense": {"model": no_mixture},
        "draft alone": {"model": no_mixture, "more": {"speculative_config": draft}},
    }
    jobs = [
        *({"name": name, "engine": BANKED, "more": more} for name, (more, _) in BOOTS.items()),
        *({"name": name, "engine": BANKED, "plant": name} for name in PLANTS),
        *({"name": name, "engine": BANKED, **more} for name, more in models.items()),
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
    assert re.search(f"moe_hot_experts: .*{PLANTS[case]}", told[case] or "", re.DOTALL), told[case]


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
