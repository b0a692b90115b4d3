"""DeepSeek-V4, with experts of MXFP4 and all else of bfloat16."""

from typing import Any

from making.drawing import Bell, Draw, Routes
from making.mxfp4 import packed

COMPRESSED = 4


def tensors(recipe: dict[str, Any]) -> dict[str, Draw]:
    """Name every tensor as DeepSeek's own checkpoints do, and say how it is drawn."""
    hidden, vocabulary = recipe["hidden_size"], recipe["vocab_size"]
    gain: dict[str, float] = recipe["gain"]
    streams = recipe["hc_mult"]
    found: dict[str, Draw] = {
        "embed.weight": Bell((vocabulary, hidden), gain["embed"]),
        "norm.weight": Bell((hidden,), 0),
        "head.weight": Bell((vocabulary, hidden), gain["head"] * hidden**-0.5),
        **mixed(recipe, "hc_head", rows=streams, scales=1),
    }
    for layer, ratio in enumerate(recipe["compress_ratios"]):
        at = f"layers.{layer}"
        found |= {
            f"{at}.attn_norm.weight": Bell((hidden,), 0),
            f"{at}.ffn_norm.weight": Bell((hidden,), 0),
            **mixed(recipe, f"{at}.hc_attn", rows=(2 + streams) * streams, scales=3),
            **mixed(recipe, f"{at}.hc_ffn", rows=(2 + streams) * streams, scales=3),
            **attention(recipe, f"{at}.attn", ratio),
            **experts(recipe, f"{at}.ffn", hashed=layer < recipe["num_hash_layers"]),
        }
    return found


def mixed(recipe: dict[str, Any], at: str, *, rows: int, scales: int) -> dict[str, Draw]:
    """How the streams of a hyper-connection are mixed."""
    width = recipe["hc_mult"] * recipe["hidden_size"]
    return {
        f"{at}_fn": Bell((rows, width), width**-0.5, "F32"),
        f"{at}_base": Bell((rows,), 0.5, "F32"),
        f"{at}_scale": Bell((scales,), 0, "F32"),
    }


def attention(recipe: dict[str, Any], at: str, ratio: int) -> dict[str, Draw]:
    """One layer's attention over a window and, where it has a ratio, what it compressed."""
    hidden, heads, head = recipe["hidden_size"], recipe["num_attention_heads"], recipe["head_dim"]
    queries, outputs = recipe["q_lora_rank"], recipe["o_groups"] * recipe["o_lora_rank"]
    grouped = heads * head // recipe["o_groups"]
    gain = recipe["gain"]["attention"]
    found: dict[str, Draw] = {
        f"{at}.attn_sink": Bell((heads,), 0.5, "F32"),
        f"{at}.wq_a.weight": Bell((queries, hidden), hidden**-0.5),
        f"{at}.q_norm.weight": Bell((queries,), 0),
        f"{at}.wq_b.weight": Bell((heads * head, queries), queries**-0.5),
        f"{at}.wkv.weight": Bell((head, hidden), hidden**-0.5),
        f"{at}.kv_norm.weight": Bell((head,), 0),
        f"{at}.wo_a.weight": Bell((outputs, grouped), gain * grouped**-0.5),
        f"{at}.wo_b.weight": Bell((hidden, outputs), outputs**-0.5),
    }
    if ratio > 1:
        found |= compressor(recipe, f"{at}.compressor", ratio, head)
    if ratio == COMPRESSED:
        found |= indexer(recipe, f"{at}.indexer", ratio)
    return found


def compressor(recipe: dict[str, Any], at: str, ratio: int, head: int) -> dict[str, Draw]:
    """What makes one key of several."""
    hidden = recipe["hidden_size"]
    width = head * (2 if ratio == COMPRESSED else 1)
    return {
        f"{at}.ape": Bell((ratio, width), 0.5, "F32"),
        f"{at}.wkv.weight": Bell((width, hidden), hidden**-0.5),
        f"{at}.wgate.weight": Bell((width, hidden), hidden**-0.5),
        f"{at}.norm.weight": Bell((head,), 0),
    }


def indexer(recipe: dict[str, Any], at: str, ratio: int) -> dict[str, Draw]:
    """What chooses among compressed keys."""
    hidden, queries = recipe["hidden_size"], recipe["q_lora_rank"]
    heads, head = recipe["index_n_heads"], recipe["index_head_dim"]
    return {
        f"{at}.wq_b.weight": Bell((heads * head, queries), queries**-0.5),
        f"{at}.weights_proj.weight": Bell((heads, hidden), hidden**-0.5),
        **compressor(recipe, f"{at}.compressor", ratio, head),
    }


def experts(recipe: dict[str, Any], at: str, *, hashed: bool) -> dict[str, Draw]:
    """One layer's router, shared expert and experts."""
    hidden, inner = recipe["hidden_size"], recipe["moe_intermediate_size"]
    count, picks = recipe["n_routed_experts"], recipe["num_experts_per_tok"]
    gain = recipe["gain"]
    found: dict[str, Draw] = {
        f"{at}.gate.weight": Bell((count, hidden), gain["router"] * hidden**-0.5),
        **(
            {f"{at}.gate.tid2eid": Routes((recipe["vocab_size"], picks), count)}
            if hashed
            else {f"{at}.gate.bias": Bell((count,), 0.1, "F32")}
        ),
        f"{at}.shared_experts.w1.weight": Bell((inner, hidden), hidden**-0.5),
        f"{at}.shared_experts.w2.weight": Bell((hidden, inner), inner**-0.5),
        f"{at}.shared_experts.w3.weight": Bell((inner, hidden), hidden**-0.5),
    }
    exponents = recipe["exponents"]
    for expert in range(count):
        row = f"{at}.experts.{expert}"
        for name, shape, which in (
            ("w1", (inner, hidden), "gate_up"),
            ("w2", (hidden, inner), "down"),
            ("w3", (inner, hidden), "gate_up"),
        ):
            found |= packed(f"{row}.{name}", shape, exponents[which], scale="scale")
    return found


def config(recipe: dict[str, Any]) -> dict[str, Any]:
    """Describe the model to vLLM's own configuration class."""
    own = {"exponents", "family", "gain", "seed"}
    return {
        "architectures": ["DeepseekV4ForCausalLM"],
        "model_type": "deepseek_v4",
        "torch_dtype": "bfloat16",
        "hidden_act": "silu",
        "expert_dtype": "fp4",
        "quantization_config": {"quant_method": "mxfp4"},
        "num_hidden_layers": len(recipe["compress_ratios"]),
        "num_key_value_heads": 1,
        "n_shared_experts": 1,
        "norm_topk_prob": True,
        "scoring_func": "sqrtsoftplus",
        "topk_method": "noaux_tc",
        "tie_word_embeddings": False,
        "attention_bias": False,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "compress_rope_theta": 40000.0,
        "rope_scaling": {"rope_type": "default"},
        **{name: value for name, value in recipe.items() if name not in own},
    }
