"""Write a small model with random weights and its tokenizer: ``make_model.py RECIPE FOLDER``.

Run with the lane's Python; needs NumPy alone. The same recipe gives the same bytes on every
machine.
"""

import json
import sys
from pathlib import Path
from typing import Any

# Python leaves the script's own folder out of its path when it runs safely.
sys.path.append(str(Path(__file__).parent))

from making import deepseek_v4, qwen3_moe
from making.drawing import drawn
from making.safetensors_file import write_safetensors
from making.tokenizer import SPECIAL, special_ids, tokenizer

FAMILIES = {"qwen3_moe": qwen3_moe, "deepseek_v4": deepseek_v4}


def configs(recipe: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Describe the model, its generation defaults and its tokenizer to transformers."""
    eos, pad = special_ids(recipe["vocab_size"])
    ends = {"eos_token_id": eos, "pad_token_id": pad}
    return {
        "config.json": {**FAMILIES[recipe["family"]].config(recipe), **ends},
        "generation_config.json": ends,
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": SPECIAL[0],
            "pad_token": SPECIAL[1],
            "model_max_length": recipe["max_position_embeddings"],
            "clean_up_tokenization_spaces": False,
        },
        "tokenizer.json": tokenizer(recipe["vocab_size"]),
    }


def main(recipe_file: str, folder: str) -> None:
    """Write the model of a recipe into a folder that exists."""
    recipe = json.loads(Path(recipe_file).read_text())
    for name, content in configs(recipe).items():
        (Path(folder) / name).write_text(json.dumps(content, indent=1) + "\n")
    tensors = drawn(recipe["seed"], FAMILIES[recipe["family"]].tensors(recipe))
    write_safetensors(tensors, Path(folder) / "model.safetensors")


if __name__ == "__main__":
    main(*sys.argv[1:])
