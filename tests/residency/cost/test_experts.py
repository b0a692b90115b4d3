"""Routed experts of checkpoints, by their ``config.json``."""

import json
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import LanewrightError
from lanewright.residency.cost.experts import read_experts

# As they are published.
V4_1: dict[str, Any] = {
    "model_type": "deepseek_v41",
    "dtype": "bfloat16",
    "quantization_config": {
        "quant_method": "fp8",
        "weight_block_size": [32, 32],
        "scale_fmt": "ue8m0",
        "expert_dtype": "fp4",
    },
    "text_config": {
        "hidden_size": 5120,
        "moe_intermediate_size": 2304,
        "num_hidden_layers": 40,
        "n_routed_experts": 384,
        "num_experts_per_tok": 6,
        "num_nextn_predict_layers": 3,
        "dspark_n_routed_experts": 128,
    },
}
V3: dict[str, Any] = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "moe_intermediate_size": 2048,
    "num_hidden_layers": 61,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "num_nextn_predict_layers": 1,
    "torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}
V2_LITE: dict[str, Any] = {
    "model_type": "deepseek_v2",
    "hidden_size": 2048,
    "moe_intermediate_size": 1408,
    "num_hidden_layers": 27,
    "first_k_dense_replace": 1,
    "n_routed_experts": 64,
    "num_experts_per_tok": 6,
    "torch_dtype": "bfloat16",
}
QWEN3: dict[str, Any] = {
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "moe_intermediate_size": 768,
    "num_hidden_layers": 48,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "torch_dtype": "bfloat16",
}
MIXTRAL: dict[str, Any] = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "torch_dtype": "bfloat16",
}
GPT_OSS: dict[str, Any] = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "num_hidden_layers": 24,
    "num_local_experts": 32,
    "num_experts_per_tok": 4,
    "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]},
}
QWEN_WEIGHTS = 3 * 2048 * 768


def write(folder: Path, config: object) -> Path:
    file = folder / "some-model" / "config.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(config if isinstance(config, str) else json.dumps(config))
    return file


@pytest.mark.parametrize(
    ("config", "layers", "experts", "picks", "row"),
    [
        # Four bits and a scale byte for each 32: 17.93 MiB, where the first user has 17.92.
        (V4_1, 40, 384, 6, 3 * 5120 * 2304 * 17 // 32),
        ({**V4_1, "model_type": "deepseek_v4"}, 40, 384, 6, 18_800_640),
        # A byte, and a float32 scale for each block.
        (V3, 58, 256, 8, 3 * 7168 * 2048 + 4 * 3 * 56 * 16),
        (V2_LITE, 26, 64, 6, 2 * 3 * 2048 * 1408),
        (QWEN3, 48, 128, 8, 2 * QWEN_WEIGHTS),
        ({**QWEN3, "model_type": "qwen2_moe", "torch_dtype": "float16"}, 48, 128, 8, 2 * QWEN_WEIGHTS),
        (MIXTRAL, 32, 8, 2, 2 * 3 * 4096 * 14336),
        ({**MIXTRAL, "model_type": "phimoe", "num_local_experts": 16}, 32, 16, 2, 352_321_536),
        # With biases of bfloat16.
        (GPT_OSS, 24, 32, 4, 3 * 2880 * 2880 * 17 // 32 + 2 * 3 * 2880),
    ],
)  # fmt: skip
def test_families(
    tmp_path: Path, config: dict[str, Any], layers: int, experts: int, picks: int, row: int
) -> None:
    found = read_experts(write(tmp_path, config))
    assert (found.layers, found.experts, found.picks, found.row) == (layers, experts, picks, row)
    assert found.name == "some-model"


def test_the_first_users_row_is_within_a_thousandth_of_the_checkpoints(tmp_path: Path) -> None:
    found = read_experts(write(tmp_path, V4_1))
    assert found.row / 2**20 == pytest.approx(17.92, rel=1e-3)
    assert round(384 * found.row / 2**30, 2) == 6.72


@pytest.mark.parametrize(
    ("changed", "layers"),
    [
        ({"mlp_only_layers": [0, 5, 47]}, 45),
        ({"decoder_sparse_step": 2}, 24),
        ({"decoder_sparse_step": 2, "mlp_only_layers": [1, 3]}, 22),
        ({"mlp_layer_types": ["dense"] + ["sparse"] * 47, "mlp_only_layers": [0]}, 47),
    ],
)
def test_layers_without_experts(tmp_path: Path, changed: dict[str, Any], layers: int) -> None:
    assert read_experts(write(tmp_path, {**QWEN3, **changed})).layers == layers


def test_every_second_layer_of_deepseek_behind_the_dense_ones(tmp_path: Path) -> None:
    # Layers 4, 6, .. 60.
    assert read_experts(write(tmp_path, {**V3, "moe_layer_freq": 2})).layers == 29


def compressed(**weights: object) -> dict[str, Any]:
    kept = weights.pop("format", "pack-quantized")
    group = {"targets": ["Linear"], "weights": weights}
    return {
        "quant_method": "compressed-tensors",
        "format": kept,
        "config_groups": {"group_0": group},
    }


@pytest.mark.parametrize(
    ("said", "row", "told"),
    [
        ({"quant_method": "fp8"}, QWEN_WEIGHTS + 12, "a scale for each matrix"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, QWEN_WEIGHTS + 4 * 3 * 6 * 16, "128 x 128"),
        # The last block of each row is no whole one.
        ({"quant_method": "fp8", "weight_block_size": [100, 100]}, QWEN_WEIGHTS + 4 * 3 * 8 * 21, "100 x 100"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, QWEN_WEIGHTS * 9 // 16 + 24, "NVFP4"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True}, 2_451_456, "int4 in groups of 128"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, 2_451_456, "int4"),
        (compressed(num_bits=4, type="int", strategy="group", group_size=32, symmetric=True),
         QWEN_WEIGHTS // 2 + 2 * QWEN_WEIGHTS // 32, "int4 in groups of 32"),
        (compressed(num_bits=4, type="int", strategy="group", group_size=32, symmetric=False),
         QWEN_WEIGHTS // 2 + 5 * QWEN_WEIGHTS // 64, "int4"),
        (compressed(format="nvfp4-pack-quantized", num_bits=4, type="float"), QWEN_WEIGHTS * 9 // 16 + 24, "NVFP4"),
        (compressed(format="mxfp4-pack-quantized", num_bits=4, type="float"), QWEN_WEIGHTS * 17 // 32, "MXFP4"),
        (compressed(format="float-quantized", num_bits=8, type="float", strategy="tensor"), QWEN_WEIGHTS + 12, "fp8"),
        (compressed(format="float-quantized", num_bits=8, type="float", strategy="channel"),
         QWEN_WEIGHTS + 4 * (2 * 768 + 2048), "for each output"),
        (compressed(format="float-quantized", num_bits=8, type="float", strategy="block", block_structure=[128, 128]),
         QWEN_WEIGHTS + 4 * 3 * 6 * 16, "128 x 128"),
    ],
)  # fmt: skip
def test_quantizations(tmp_path: Path, said: dict[str, Any], row: int, told: str) -> None:
    found = read_experts(write(tmp_path, {**QWEN3, "quantization_config": said}))
    assert found.row == row
    assert told in found.row_is


@pytest.mark.parametrize(
    ("said", "row"),
    [
        (
            {"expert_dtype": "fp8", "weight_block_size": [128, 128]},
            3 * 5120 * 2304 + 4 * 3 * 40 * 18,
        ),
        ({"moe_quant_algo": "NVFP4"}, 3 * 5120 * 2304 * 9 // 16 + 24),
        # As vLLM takes it where nothing is said.
        ({}, 18_800_640),
    ],
)
def test_experts_of_deepseek_v4_are_of_a_type_of_their_own(
    tmp_path: Path, said: dict[str, Any], row: int
) -> None:
    config = {**V4_1, "quantization_config": {"quant_method": "fp8", **said}}
    assert read_experts(write(tmp_path, config)).row == row


INT = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("{", "no valid JSON"),
        ("[" * 100_000, "no valid JSON"),
        ([1], "it is no object"),
        ({}, "model_type is None"),
        ({**QWEN3, "model_type": "llama"}, "model_type is 'llama', and which of its layers"),
        ({**QWEN3, "model_type": ["qwen3_moe"]}, "model_type is"),
        ({**QWEN3, "num_experts": None}, "num_experts is None"),
        ({**QWEN3, "num_experts": True}, "num_experts is True"),
        ({**QWEN3, "hidden_size": -1}, "hidden_size is -1"),
        ({**QWEN3, "hidden_size": 10**30}, "hidden_size is 1000"),
        ({**QWEN3, "moe_intermediate_size": "768"}, "moe_intermediate_size is '768'"),
        ({**QWEN3, "num_experts_per_tok": 129}, "no routed experts"),
        ({**QWEN3, "num_hidden_layers": 0}, "no routed experts"),
        ({**QWEN3, "mlp_only_layers": 5}, "no routed experts"),
        ({**QWEN3, "mlp_layer_types": ["dense"] * 48}, "mlp_layer_types has not the 48 layers"),
        ({k: v for k, v in V3.items() if k != "first_k_dense_replace"}, "first_k_dense_replace is None"),
        ({**V3, "moe_layer_freq": [0, 1]}, "moe_layer_freq is [0, 1]"),
        ({**QWEN3, "torch_dtype": "float32"}, "torch_dtype is 'float32'"),
        ({**QWEN3, "quantization_config": "fp8"}, "which is no table"),
        ({**QWEN3, "quantization_config": {"quant_method": "exl3"}}, "quant_method is 'exl3'"),
        ({**QWEN3, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128]}}, "weight_block_size"),
        ({**QWEN3, "quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8"}}, "quant_algo is 'FP8'"),
        ({**QWEN3, "quantization_config": {"quant_method": "gptq", "bits": 8, "group_size": 128}}, "bits 8"),
        ({**QWEN3, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 100}}, "group_size 100"),
        ({**QWEN3, "quantization_config": {"quant_method": "gptq", "bits": 4, "desc_act": True}}, "desc_act"),
        ({**QWEN3, "quantization_config": {"quant_method": "compressed-tensors"}}, "not one group"),
        ({**QWEN3, "quantization_config": compressed(**{**INT, "group_size": 100})}, "does not divide"),
        ({**QWEN3, "quantization_config": compressed(**{**INT, "num_bits": 3})}, "is not known"),
        ({**QWEN3, "quantization_config": compressed(num_bits=8, type="float", strategy="group")}, "by 'group'"),
        ({**QWEN3, "quantization_config": {**compressed(**INT), "ignore": ["model.layers.3.mlp.experts.0.up_proj"]}},
         "ignore leaves out 'model.layers.3"),
        ({**V4_1, "expert_dtype": "int2"}, "expert_dtype is 'int2'"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_never_guessed(tmp_path: Path, config: object, told: str) -> None:
    file = write(tmp_path, config)
    with pytest.raises(LanewrightError) as error:
        read_experts(file)
    assert told in str(error.value)
    assert str(file) in str(error.value)
    if "JSON" not in told and "object" not in told:
        assert "[model.experts]" in (error.value.hint or "")


def test_shared_experts_may_be_left_out_of_a_quantization(tmp_path: Path) -> None:
    said = {
        "quant_method": "modelopt",
        "quant_algo": "NVFP4",
        "ignore": ["*shared_experts*", "lm_head"],
    }
    assert "NVFP4" in read_experts(write(tmp_path, {**QWEN3, "quantization_config": said})).row_is


def test_a_file_that_is_none(tmp_path: Path) -> None:
    for file in (tmp_path / "no.json", tmp_path):
        with pytest.raises(LanewrightError, match="it is no file"):
            read_experts(file)
    # As the hub's cache has it.
    (tmp_path / "link.json").symlink_to(write(tmp_path, QWEN3))
    assert read_experts(tmp_path / "link.json").layers == 48


def test_a_name_that_the_file_says(tmp_path: Path) -> None:
    assert read_experts(write(tmp_path, {**QWEN3, "_name_or_path": "a/b"})).name == "a/b"
