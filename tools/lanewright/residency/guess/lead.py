"""How long before a layer a guess can be made, and which of its rows get there in that time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lead:
    """Compute between the moment a guess can be made and the layer's experts.

    Attributes:
        what: It, in words.
        steps: Forwards.
        layers: Layers.
        attention: Parts of a layer that are in front of its router.
        copies: Whether a guess is copied; what a cache holds is there.
        standing: Whether it is known before the engine starts.
    """

    what: str
    steps: float = 0.0
    layers: float = 0.0
    attention: float = 0.0
    copies: bool = True
    standing: bool = False

    def seconds(self, step_seconds: float, layers: int, attention: float) -> float | None:
        """Tell how long that is; None where nothing has to be waited for.

        Args:
            step_seconds: That a forward computes, each layer an equal part.
            layers: L.
            attention: Share of a layer's part that is in front of its router.
        """
        if self.standing or not self.copies:
            return None
        each = step_seconds / layers
        return self.steps * step_seconds + (self.layers + self.attention * attention) * each


def arriving(lead: float, copy: float, layer: float, wanted: float) -> float:
    """Tell how many rows of a layer's guess get there, where every layer has one.

    The link goes on from layer to layer: however early a guess is made, a layer has its share of
    the step's time on the link, and no more.

    Args:
        lead: Seconds; infinite where it is known before the start.
        copy: Of one row, in seconds.
        layer: That one layer computes, in seconds.
        wanted: Rows that are to be copied for one layer.

    Returns:
        Rows, 0..wanted; 0 where the lead is shorter than one copy.
    """
    if lead < copy:
        return 0.0
    room = layer / copy if lead >= layer else lead // copy
    return min(wanted, room)
