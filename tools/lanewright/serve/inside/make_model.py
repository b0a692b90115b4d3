"""Write a small model with random weights and its tokenizer: ``make_model.py RECIPE FOLDER``.

Run with the lane's Python; needs NumPy alone. The same recipe gives the same bytes on every
machine: PCG64's raw integers are turned to floats by exact steps only.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]
BYTES = 256
SPECIAL = ("<|eos|>", "<|pad|>")


def shapes(recipe: dict[str, Any]) -> dict[str, tuple[Shape, float]]:
    """Name every tensor of a Qwen3-MoE model, with its shape and standard deviation.

    A deviation of zero stands for a norm's weight: ones.
    """
    hidden, experts = recipe["hidden_size"], recipe["num_experts"]
    inner, vocabulary = recipe["moe_intermediate_size"], recipe["vocab_size"]
    head = recipe["head_dim"]
    queries, keys = recipe["num_attention_heads"] * head, recipe["num_key_value_heads"] * head
    gain: dict[str, float] = recipe["gain"]
    wide = hidden**-0.5
    found: dict[str, tuple[Shape, float]] = {
        "model.embed_tokens.weight": ((vocabulary, hidden), gain["embed"]),
        "model.norm.weight": ((hidden,), 0),
        "lm_head.weight": ((vocabulary, hidden), gain["head"] * wide),
    }
    for layer in range(recipe["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        found |= {
            f"{at}.input_layernorm.weight": ((hidden,), 0),
            f"{at}.post_attention_layernorm.weight": ((hidden,), 0),
            f"{at}.self_attn.q_norm.weight": ((head,), 0),
            f"{at}.self_attn.k_norm.weight": ((head,), 0),
            f"{at}.self_attn.q_proj.weight": ((queries, hidden), wide),
            f"{at}.self_attn.k_proj.weight": ((keys, hidden), wide),
            f"{at}.self_attn.v_proj.weight": ((keys, hidden), gain["attention"] * wide),
            f"{at}.self_attn.o_proj.weight": ((hidden, queries), queries**-0.5),
            f"{at}.mlp.gate.weight": ((experts, hidden), gain["router"] * wide),
        }
        for expert in range(experts):
            row = f"{at}.mlp.experts.{expert}"
            found |= {
                f"{row}.gate_proj.weight": ((inner, hidden), gain["experts"] * wide),
                f"{row}.up_proj.weight": ((inner, hidden), gain["experts"] * wide),
                f"{row}.down_proj.weight": ((hidden, inner), gain["experts"] * inner**-0.5),
            }
    return found


def weights(recipe: dict[str, Any]) -> dict[str, NDArray[np.uint16]]:
    """Draw every tensor, as the bits of bfloat16."""
    source = np.random.PCG64(recipe["seed"])
    drawn = {}
    for name, (shape, deviation) in shapes(recipe).items():
        count = int(np.prod(shape))
        if deviation == 0:
            values = np.ones(count, np.float32)
        else:
            # The sum of four uniform 16-bit numbers is bell-shaped enough, and exact.
            quarters = source.random_raw(count).view("<u2").reshape(count, 4)
            centred = quarters.sum(axis=1, dtype=np.int64) - 2 * 65535
            values = (centred * (deviation / (65536 * (4 / 12) ** 0.5))).astype(np.float32)
        # Truncated, not rounded: as good for random weights.
        drawn[name] = (values.view("<u4") >> 16).astype("<u2").reshape(shape)
    return drawn


def write_safetensors(tensors: dict[str, NDArray[np.uint16]], file: Path) -> None:
    """Write bfloat16 tensors: length of the header, the header as JSON, then all the bytes."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, bits in tensors.items():
        start, end = end, end + bits.nbytes
        header[name] = {"dtype": "BF16", "shape": bits.shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with file.open("wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for bits in tensors.values():
            out.write(bits.tobytes())


def byte_letters() -> list[str]:
    """Give each byte its letter in a byte-level BPE: itself where printable, else from U+0100 on."""
    shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return [chr(byte if byte in shown else next(spare)) for byte in range(BYTES)]


def tokenizer(recipe: dict[str, Any]) -> dict[str, Any]:
    """Describe a byte-level BPE whose merges are pairs of letters, in a fixed order."""
    letters = byte_letters()
    space = letters[ord(" ")]
    common = "etaoinshrdlucmfwygpbvk"
    pairs = [(space, letter) for letter in common]
    pairs += [(first, second) for first in common for second in common]
    merges = pairs[: recipe["vocab_size"] - BYTES - len(SPECIAL)]
    tokens = [*letters, *(first + second for first, second in merges), *SPECIAL]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": tokens.index(name),
                "content": name,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for name in SPECIAL
        ],
        "normalizer": None,
        "pre_tokenizer": {**byte_level, "use_regex": True},
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [[first, second] for first, second in merges],
        },
    }


def configs(recipe: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Describe the model, its generation defaults and its tokenizer to transformers."""
    eos, pad = (recipe["vocab_size"] - len(SPECIAL) + place for place in range(len(SPECIAL)))
    shape = {name: value for name, value in recipe.items() if name not in {"gain", "seed"}}
    return {
        "config.json": {
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
            "eos_token_id": eos,
            "pad_token_id": pad,
            **shape,
        },
        "generation_config.json": {"eos_token_id": eos, "pad_token_id": pad},
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": SPECIAL[0],
            "pad_token": SPECIAL[1],
            "model_max_length": recipe["max_position_embeddings"],
            "clean_up_tokenization_spaces": False,
        },
        "tokenizer.json": tokenizer(recipe),
    }


def main(recipe_file: str, folder: str) -> None:
    """Write the model of a recipe into a folder that exists."""
    recipe = json.loads(Path(recipe_file).read_text())
    for name, content in configs(recipe).items():
        (Path(folder) / name).write_text(json.dumps(content, indent=1) + "\n")
    write_safetensors(weights(recipe), Path(folder) / "model.safetensors")


if __name__ == "__main__":
    main(*sys.argv[1:])
