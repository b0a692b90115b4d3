"""Qwen3-MoE, with experts of bfloat16 or MXFP4."""

from typing import Any

from making.drawing import Bell, Draw
from making.mxfp4 import packed


def tensors(recipe: dict[str, Any]) -> dict[str, Draw]:
    """Name every tensor, and say how it is drawn."""
    hidden, experts = recipe["hidden_size"], recipe["num_experts"]
    vocabulary, head = recipe["vocab_size"], recipe["head_dim"]
    queries, keys = recipe["num_attention_heads"] * head, recipe["num_key_value_heads"] * head
    gain: dict[str, float] = recipe["gain"]
    wide = hidden**-0.5
    found: dict[str, Draw] = {
        "model.embed_tokens.weight": Bell((vocabulary, hidden), gain["embed"]),
        "model.norm.weight": Bell((hidden,), 0),
        "lm_head.weight": Bell((vocabulary, hidden), gain["head"] * wide),
    }
    for layer in range(recipe["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        found |= {
            f"{at}.input_layernorm.weight": Bell((hidden,), 0),
            f"{at}.post_attention_layernorm.weight": Bell((hidden,), 0),
            f"{at}.self_attn.q_norm.weight": Bell((head,), 0),
            f"{at}.self_attn.k_norm.weight": Bell((head,), 0),
            f"{at}.self_attn.q_proj.weight": Bell((queries, hidden), wide),
            f"{at}.self_attn.k_proj.weight": Bell((keys, hidden), wide),
            f"{at}.self_attn.v_proj.weight": Bell((keys, hidden), gain["attention"] * wide),
            f"{at}.self_attn.o_proj.weight": Bell((hidden, queries), queries**-0.5),
            f"{at}.mlp.gate.weight": Bell((experts, hidden), gain["router"] * wide),
        }
        for expert in range(experts):
            row = f"{at}.mlp.experts.{expert}"
            found |= mxfp4_row(recipe, row) if "exponents" in recipe else bfloat16_row(recipe, row)
    return found


def bfloat16_row(recipe: dict[str, Any], row: str) -> dict[str, Draw]:
    """One expert, unquantised."""
    hidden, inner = recipe["hidden_size"], recipe["moe_intermediate_size"]
    gain = recipe["gain"]["experts"]
    return {
        f"{row}.gate_proj.weight": Bell((inner, hidden), gain * hidden**-0.5),
        f"{row}.up_proj.weight": Bell((inner, hidden), gain * hidden**-0.5),
        f"{row}.down_proj.weight": Bell((hidden, inner), gain * inner**-0.5),
    }


def mxfp4_row(recipe: dict[str, Any], row: str) -> dict[str, Draw]:
    """One expert, quantised."""
    hidden, inner = recipe["hidden_size"], recipe["moe_intermediate_size"]
    gate_up, down = recipe["exponents"]["gate_up"], recipe["exponents"]["down"]
    return {
        **packed(f"{row}.gate_proj", (inner, hidden), gate_up, scale="weight_scale"),
        **packed(f"{row}.up_proj", (inner, hidden), gate_up, scale="weight_scale"),
        **packed(f"{row}.down_proj", (hidden, inner), down, scale="weight_scale"),
    }


def config(recipe: dict[str, Any]) -> dict[str, Any]:
    """Describe the model to transformers."""
    own = {"exponents", "family", "gain", "seed"}
    quantised = {"quantization_config": {"quant_method": "mxfp4"}}
    return {
        "architectures": ["Qwen3MoeForCausalLM"],
        "model_type": "qwen3_moe",
        "torch_dtype": "bfloat16",
        "hidden_act": "silu",
        "norm_topk_prob": True,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "attention_bias": False,
        "tie_word_embeddings": False,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "use_sliding_window": False,
        **(quantised if "exponents" in recipe else {}),
        **{name: value for name, value in recipe.items() if name not in own},
    }
