"""What counting picks costs, as somebody measured it."""

from collections.abc import Iterable
from dataclasses import dataclass

from lanewright.residency.cost.machine_file import Counted
from lanewright.residency.cost.model import Model


@dataclass(frozen=True)
class Counting:
    """A counter's cost in a step.

    Attributes:
        tokens: Of the step.
        picks: Of a layer.
        seconds: More than without it, in all layers.
        layer_seconds: In one.
        of_step: As a share of the step of one user; None where that is not said.
    """

    tokens: int
    picks: int
    seconds: float
    layer_seconds: float
    of_step: float | None


def counting(model: Model, measured: Iterable[Counted], step: float | None) -> dict[int, Counting]:
    """Take the difference, by tokens.

    Args:
        model: Its picks and layers.
        measured: With the counter and without.
        step: Seconds of a step of one user; None where that is not said.
    """
    found = {}
    for each in measured:
        more = (each.on - each.off) / 1e6
        found[each.tokens] = Counting(
            tokens=each.tokens,
            picks=each.tokens * model.picks,
            seconds=more,
            layer_seconds=more / model.layers,
            of_step=step and more / step,
        )
    return found
