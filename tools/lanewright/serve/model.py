"""Small generated models: nothing to download, the same bytes everywhere."""

import hashlib
import json
from pathlib import Path
from typing import Any

from lanewright.errors import LanewrightError
from lanewright.guarded import ended
from lanewright.places import Places
from lanewright.serve.child import BootError, child, tail, watch
from lanewright.serve.environment import LaneEnv
from lanewright.store.locking import held
from lanewright.store.scratch import making
from lanewright.terminal import quoted

MAKER = Path(__file__).parent / "inside" / "make_model.py"
MAKE_SECONDS = 300.0

# Widths are multiples of 32 and weights bfloat16: vLLM's portable CPU kernels take both, with
# AVX2 alone and on aarch64 too. The gains make greedy output lively: of 48 prompts with 24
# tokens each, 431 of the 512 tokens come up, and every expert's rows matter to it.
RECIPES: dict[str, dict[str, Any]] = {
    "qwen3-moe-tiny": {
        "seed": 20261129,
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
        "gain": {"embed": 1.0, "head": 1.0, "attention": 1.5, "router": 1.0, "experts": 2.5},
    },
}


def ensure_model(places: Places, env: LaneEnv, recipe: str) -> Path:
    """Find or make a model.

    Args:
        places: Where models are kept.
        env: Whose Python has NumPy.
        recipe: A name in ``RECIPES``.

    Returns:
        Folder with configuration, bfloat16 weights and tokenizer, as Hugging Face lays them out.

    Raises:
        LanewrightError: No such recipe, or no room.
        BootError: The maker failed.
    """
    text = recipe_text(recipe)
    folder = places.models / model_name(recipe)
    try:
        with held(folder.with_suffix(".lock"), f"makes {folder.name}"):
            if not folder.is_dir():
                make(env, text, folder)
    except OSError as error:
        raise LanewrightError(
            f"model {folder}: {error}",
            hint="free some disk space, or name another folder in LANEWRIGHT_STORE",
        ) from error
    return folder


def model_name(recipe: str) -> str:
    """Name of the folder that a recipe's model is in, wherever that is."""
    return f"{recipe}-{recipe_hash(recipe)[:12]}"


def recipe_text(recipe: str) -> str:
    """Write a recipe as the maker reads it.

    Raises:
        LanewrightError: No such recipe.
    """
    if recipe not in RECIPES:
        raise LanewrightError(
            f"no model recipe {recipe!r}; known: {', '.join(RECIPES)}",
            hint="name a known recipe in the lane's series",
        )
    return json.dumps(RECIPES[recipe], indent=1, sort_keys=True)


def recipe_hash(recipe: str) -> str:
    """SHA-256 of a recipe and of the program that follows it."""
    return hashlib.sha256(recipe_text(recipe).encode() + MAKER.read_bytes()).hexdigest()


def make(env: LaneEnv, text: str, folder: Path) -> None:
    """Make a model beside its place and move it there when it is whole."""
    with making(folder.parent) as work:
        made = work / "model"
        made.mkdir()
        recipe_file = work / "recipe.json"
        recipe_file.write_text(text)
        command = [str(env.python), str(MAKER), str(recipe_file), str(made)]
        with child("model", command, environ=env.environ(), log=work / "log") as running:
            status = watch(running, seconds=MAKE_SECONDS)
            if status:
                raise BootError(
                    f"{folder.name} could not be made: {MAKER.name} {ended(status)}:\n"
                    f"{tail(running.log)}",
                    hint=f"if the base environment is damaged, remove it, and it is made again:"
                    f" rm -r {quoted(env.python.parent.parent)}",
                )
        made.rename(folder)
