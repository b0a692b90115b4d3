"""How many engines a comparison boots, where each takes long to load."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from lanewright.serve.equality.asked import Mode
from lanewright.serve.features import BANKS, switched_on

# The unpatched pin, and the lane with its features on.
LEAST = 2
# With its features off, too.
WHOLE = 3


@dataclass(frozen=True)
class Budget:
    """What is compared with so many boots.

    Attributes:
        modes: In which; the lane's own first.
        off: Whether the lane is booted with its features off, too.
        shared: Whether one engine answers for all arms that can be switched to while it runs.
        boots: How many there may be; None for as many as there are arms.
    """

    modes: tuple[Mode, ...]
    off: bool = True
    shared: bool = False
    boots: int | None = None

    @classmethod
    def of(cls, boots: int | None, modes: Sequence[Mode], engine: Mapping[str, object]) -> Self:
        """Spend boots on both sides in the lane's own mode, on its features off, on other modes.

        Args:
            boots: How many engines may be booted, at least ``LEAST``; None for one an arm.
            modes: Of the lane.
            engine: Its arguments.
        """
        if boots is None:
            return cls(tuple(modes))
        own: Mode = "eager" if engine.get("enforce_eager") else "compiled"
        ordered = tuple(sorted(modes, key=lambda mode: mode != own))
        # Without a feature, on is off.
        each = WHOLE if switched_on(engine) else LEAST
        kept = ordered[: max(1, boots // each)]
        return cls(kept, off=each == LEAST or boots >= each * len(kept), shared=True, boots=boots)

    def fewer(self, modes: Sequence[Mode], engine: Mapping[str, object]) -> Iterator[str]:
        """Yield what it leaves out, and what it does otherwise."""
        if self.boots is None:
            return
        within = f"within {self.boots} boots"
        if len(self.modes) < len(modes):
            yield f"{within} only {' and '.join(self.modes)}"
        if not self.off:
            yield f"{within} no engine of the lane with its features off"
        if engine.get(BANKS):
            yield f"{within} one engine for all maps, switched while it runs"
