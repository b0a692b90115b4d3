"""A model's routed experts, and how many of them are hot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from expert_bank.hot import hot_rows
from expert_bank.layer_shape import LayerShape
from expert_bank.refused import Refused
from lanewright.errors import LanewrightError
from lanewright.queue.series import Series
from lanewright.residency.cost.experts import Experts
from lanewright.residency.shapes import layer_shapes
from lanewright.serve.features import BANKS


@dataclass(frozen=True)
class Model:
    """Routed experts in two banks, all MoE layers alike.

    Attributes:
        name: As the hub, a recipe or a file has it.
        row_is: How the bytes of a row are known.
        layers: MoE layers, L.
        experts: Of each, E.
        picks: Experts that a token gets, k.
        row: Bytes of one expert, its scales among them.
        hot: Hot experts of each layer.
    """

    name: str
    row_is: str
    layers: int
    experts: int
    picks: int
    row: int
    hot: tuple[int, ...]

    @property
    def cold(self) -> tuple[int, ...]:
        """Cold experts of each layer, C."""
        return tuple(self.experts - rows for rows in self.hot)

    @property
    def layer_bytes(self) -> int:
        """All experts of a layer."""
        return self.experts * self.row

    @property
    def bytes(self) -> int:
        """All experts."""
        return self.layers * self.layer_bytes

    @property
    def hot_bytes(self) -> int:
        """The hot bank."""
        return sum(self.hot) * self.row

    @property
    def cold_bytes(self) -> int:
        """All cold experts, once."""
        return sum(self.cold) * self.row


def of_experts(experts: Experts, spec: str) -> Model:
    """Split a checkpoint's experts.

    Args:
        experts: They.
        spec: How many are hot, as ``moe_hot_experts`` has it.

    Raises:
        LanewrightError: The spec cannot be read, or asks for more than a layer has.
    """
    hot = _hot(spec, [experts.experts] * experts.layers, [experts.row] * experts.layers)
    return Model(
        experts.name,
        experts.row_is,
        experts.layers,
        experts.experts,
        experts.picks,
        experts.row,
        hot,
    )


def of_series(series: Series, lane: str, engine: dict[str, Any]) -> Model:
    """Split a lane's experts.

    Args:
        series: The lane's.
        lane: Its name.
        engine: Its engine arguments, or others.

    Raises:
        LanewrightError: Nothing is in two banks, or the model is not described.
    """
    if not engine.get(BANKS):
        raise LanewrightError(
            f"lane {lane} has no two banks ({BANKS}), and nothing of it is cold",
            hint=f"set {BANKS} in its [engine], or give --hot",
        )
    shapes: Sequence[LayerShape] = layer_shapes(series, lane)
    hot = _hot(engine[BANKS], [each.experts for each in shapes], [each.row for each in shapes])
    first, model = shapes[0], series.model
    return Model(
        name=str(model.name or model.recipe),
        row_is="[model.experts] row" if model.recipe is None else "its recipe",
        layers=len(shapes),
        experts=first.experts,
        picks=first.picks,
        row=first.row,
        hot=hot,
    )


def _hot(spec: str, experts: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    try:
        return hot_rows(spec, experts=experts, row_bytes=sizes)
    except Refused as error:
        raise LanewrightError(error.message, hint=error.hint) from error
