"""``[model]`` of a series: what the lane serves."""

import msgspec

from lanewright.errors import LanewrightError


class ModelSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[model]``: exactly one of the two.

    Attributes:
        recipe: How a tiny model with random weights is generated.
        name: A model that others trained, as vLLM takes it.
    """

    recipe: str | None = None
    name: str | None = None


def check_model(model: ModelSpec, place: str) -> None:
    """Check what types alone do not say.

    Raises:
        LanewrightError: Both are given, or neither.
    """
    if (model.recipe is None) == (model.name is None):
        raise LanewrightError(
            f"{place}: needs exactly one of `recipe` and `name`",
            hint='recipe = "qwen3-moe-tiny" is the generated one',
        )


def recipe_of(model: ModelSpec, lane: str) -> str:
    """The recipe of a lane's model.

    Raises:
        LanewrightError: It is not a generated one, and no other is booted yet.
    """
    if model.recipe is None:
        raise LanewrightError(
            f"lane {lane} serves {model.name}: only generated models are booted for now",
            hint=f"`lanewright build {lane}` and `lanewright image {lane}` need no model",
        )
    return model.recipe
