"""What stands against two banks, case by case, and what is said of it (patterns)."""

from collections.abc import Mapping
from typing import Any

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
    "monolithic": rf"{FIRST} routes inside its kernel {BY}; .*{INSTEAD}",
    "monolithic_at_last": rf"{FIRST} routes inside its kernel {BY}; .*{INSTEAD}",
    "foreign": (rf"{LAST} is a vllm\.\S+\.RoutedExperts, and was not loaded into banks.*{INSTEAD}"),
    "rival": r"RoutedExperts is already replaced by refusals\.\S+; load only one plugin",
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
        r"sleep mode is on \(enable_sleep_mode\), and the banks cannot sleep on cpu",
    ),
    "sleep by name": (
        {
            "set": {
                "model_config.enable_sleep_mode": True,
                "model_config.sleep_preserve_parameter_names": ["*"],
            }
        },
        r"outlast a sleep by name \(sleep_preserve_parameter_names\)",
    ),
    "drafts cut": (
        {
            "engine": {
                "speculative_config": {
                    "method": "ngram",
                    "num_speculative_tokens": 2,
                    "prompt_lookup_max": 4,
                }
            },
            "set": {"speculative_config.enable_adaptive_verification": True},
        },
        r"drafts are cut once a step is under way \(enable_adaptive_verification\)",
    ),
    "a part of a prompt": (
        {"set": {"cache_config.kv_sharing_fast_prefill": True}},
        r"leave out a prompt's tokens \(kv_sharing_fast_prefill\)",
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
    "weights cannot be reset": [["reset_weights"]],
    "weights cannot be summed up": [["compute_weight_checksums"]],
    "weights cannot be saved": [
        ["save_sharded_state", "/nowhere"],
        ["save_tensorized_model", None],
    ],
}
