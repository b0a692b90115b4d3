"""Shapes of a model's MoE layers: of a generated model by its recipe, of another as its series says."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from expert_bank.layer_shape import LayerShape
from expert_bank.sizes import parse_size
from lanewright.errors import LanewrightError
from lanewright.queue.series import Series
from lanewright.serve.model import recipe_text
from lanewright.serve.recipes import RECIPES

# A scale for so many packed numbers of four bits.
MXFP4_BLOCK = 32


def layer_shapes(series: Series, lane: str) -> tuple[LayerShape, ...]:
    """Give the shape of each layer, in load order.

    Raises:
        LanewrightError: There is nothing to know them by, or no such recipe.
    """
    model = series.model
    if model.recipe is not None:
        recipe_text(model.recipe)
        return _of_recipe(RECIPES[model.recipe])
    if model.experts is None:
        raise LanewrightError(
            f"lane {lane} serves {model.name}, whose experts nobody describes",
            hint="say layers, experts, picks and row in [model.experts] of its series",
        )
    found = model.experts
    return (_shape(found.experts, found.picks, {"row": parse_size(found.row) or 0}),) * found.layers


def kv_per_token(series: Series) -> Fraction | None:
    """Give the bytes of a token in the KV cache; None where that is not known."""
    if series.machine is not None and series.machine.kv_tokens is not None:
        return series.machine.kv_per_token
    recipe = RECIPES.get(series.model.recipe or "", {})
    if recipe.get("family") != "qwen3_moe":
        return None
    heads = recipe["num_key_value_heads"] * recipe["head_dim"]
    # Keys and values, of bfloat16.
    return Fraction(2 * 2 * heads * recipe["num_hidden_layers"])


def plain_weights(series: Series) -> bool:
    """Tell whether the experts' weights are not quantized."""
    if series.model.recipe is not None:
        return "exponents" not in RECIPES[series.model.recipe]
    return series.model.experts is not None and series.model.experts.plain


def _of_recipe(recipe: Mapping[str, Any]) -> tuple[LayerShape, ...]:
    hidden, inner = recipe["hidden_size"], recipe["moe_intermediate_size"]
    layers = recipe.get("num_hidden_layers") or len(recipe["compress_ratios"])
    experts = recipe.get("num_experts") or recipe["n_routed_experts"]
    numbers = {"w13_weight": 2 * inner * hidden, "w2_weight": hidden * inner}
    if "exponents" in recipe:
        rows = {name: count // 2 for name, count in numbers.items()}
        rows |= {f"{name}_scale": count // MXFP4_BLOCK for name, count in numbers.items()}
    else:
        rows = {name: 2 * count for name, count in numbers.items()}
    return (_shape(experts, recipe["num_experts_per_tok"], rows),) * layers


def _shape(experts: int, picks: int, rows: Mapping[str, int]) -> LayerShape:
    whole = experts * sum(rows.values())
    return LayerShape(experts, picks, rows, whole, whole)
