"""Recipes of the generated models."""

from typing import Any

from lanewright.serve.texts import TEXTS

# Widths are multiples of 32: vLLM's portable CPU kernels take them, with AVX2 alone and on aarch64
# too (packed experts are torch's there). The gains make greedy output lively: hundreds of tokens come up,
# and every expert's rows matter to it.
_QWEN: dict[str, Any] = {
    "family": "qwen3_moe",
    "vocab_size": 512,
    "hidden_size": 128,
    "intermediate_size": 256,
    "moe_intermediate_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "num_experts": 16,
    "num_experts_per_tok": 4,
    "max_position_embeddings": 512,
}
_TRAINED: dict[str, Any] = {**_QWEN, "vocab_size": 1024, "num_experts": 64}
RECIPES: dict[str, dict[str, Any]] = {
    # Experts of bfloat16.
    "qwen3-moe-tiny": {
        **_QWEN,
        "seed": 20261129,
        "gain": {"embed": 1.0, "head": 1.0, "attention": 1.5, "router": 1.0, "experts": 2.5},
    },
    # The same, drawn anew, with room for prompts of thousands of tokens.
    "qwen3-moe-long": {
        **_QWEN,
        "max_position_embeddings": 8192,
        "seed": 20261203,
        "gain": {"embed": 1.0, "head": 1.0, "attention": 1.5, "router": 1.0, "experts": 2.5},
    },
    # Experts of MXFP4, as the big lanes have them. The bytes are of e8m0: 123 is 2 ** -4.
    "qwen3-moe-mxfp4-tiny": {
        **_QWEN,
        "seed": 20261130,
        "gain": {"embed": 1.0, "head": 1.0, "attention": 1.5, "router": 1.0},
        "exponents": {"gate_up": [121, 125], "down": [122, 126]},
    },
    # As the big lanes route: 384 experts, six a token, by hash of the token in the first layer.
    "deepseek-v4-tiny": {
        "family": "deepseek_v4",
        "vocab_size": 512,
        "hidden_size": 256,
        "moe_intermediate_size": 32,
        # Of each layer: none, then the two kinds of compression.
        "compress_ratios": [0, 4, 128],
        "num_hash_layers": 1,
        "n_routed_experts": 384,
        "num_experts_per_tok": 6,
        "routed_scaling_factor": 1.5,
        "swiglu_limit": 10.0,
        "num_attention_heads": 2,
        "head_dim": 512,
        "qk_rope_head_dim": 64,
        "q_lora_rank": 64,
        "o_lora_rank": 64,
        "o_groups": 1,
        "index_n_heads": 2,
        "index_head_dim": 128,
        "index_topk": 512,
        "sliding_window": 128,
        "hc_mult": 4,
        "hc_sinkhorn_iters": 4,
        "hc_eps": 1e-6,
        "max_position_embeddings": 512,
        "seed": 20261201,
        "gain": {"embed": 1.0, "head": 1.0, "attention": 1.5, "router": 1.0},
        "exponents": {"gate_up": [121, 125], "down": [122, 126]},
    },
    # Trained on two kinds of text, so that its experts take to one or the other.
    "qwen3-moe-trained": {
        **_TRAINED,
        "seed": 20261202,
        "training": {
            "text": TEXTS,
            "steps": 450,
            "batch": 16,
            "length": 128,
            "rate": 4e-3,
            "balance": 0.023,
            # Of the first weights.
            "deviation": 0.06,
        },
    },
    # The same function with zeros in every expert: its rows are a little over 1 MiB.
    "qwen3-moe-trained-wide": {
        **_TRAINED,
        "widens": "qwen3-moe-trained",
        "moe_intermediate_size": 1376,
    },
}
