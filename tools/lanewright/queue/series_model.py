"""``[model]`` of a series: what the lane serves."""

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.series_machine import ExpertsSpec


class ModelSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[model]``: exactly one of the first two.

    Attributes:
        recipe: How a tiny model with random weights is generated.
        name: A model that others trained, as vLLM takes it.
        experts: Of such a model, for a plan where it is not here.
    """

    recipe: str | None = None
    name: str | None = None
    experts: ExpertsSpec | None = None


def check_model(model: ModelSpec, place: str) -> None:
    """Check what types alone do not say.

    Raises:
        LanewrightError: Both are given, or neither; or experts of a recipe.
    """
    if (model.recipe is None) == (model.name is None):
        raise LanewrightError(
            f"{place}: needs exactly one of `recipe` and `name`",
            hint='recipe = "qwen3-moe-tiny" is the generated one',
        )
    if model.recipe is not None and model.experts is not None:
        raise LanewrightError(f"{place}: experts: the recipe says what they are")
