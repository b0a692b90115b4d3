"""``[model]`` of a series: what the lane serves."""

import re

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.series_machine import ExpertsSpec

# A folder is mounted, and the colon ends a path there.
_FOLDER = r"/+[^:,/\x00-\x1f\x7f][^:,\x00-\x1f\x7f]*"
# As the hub permits: no option, and no path.
_PART = r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
_HUB = rf"(?!.*(--|\.\.))(?!.*\.git\Z)({_PART}/)?{_PART}"
MODEL = re.compile(rf"{_FOLDER}|{_HUB}")


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
        LanewrightError: Both are given, or neither; a name that vLLM would not take as one; or
            experts of a recipe.
    """
    if (model.recipe is None) == (model.name is None):
        raise LanewrightError(
            f"{place}: needs exactly one of `recipe` and `name`",
            hint='recipe = "qwen3-moe-tiny" is the generated one',
        )
    if model.name is not None and not MODEL.fullmatch(model.name):
        raise LanewrightError(
            f"{place}: name: {model.name!r} is neither a folder nor a model's name on the hub",
            hint='name = "owner/name" as on the hub, or "/..." for a folder of this machine, without'
            " colons and commas",
        )
    if model.recipe is not None and model.experts is not None:
        raise LanewrightError(f"{place}: experts: the recipe says what they are")
