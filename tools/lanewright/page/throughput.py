"""Tokens a second of each arm of a comparison, beside its baseline's of the same run."""

from dataclasses import dataclass

from lanewright.history.band import BASELINE
from lanewright.history.past import PastRun

BOOT = "boot"


@dataclass(frozen=True)
class Speed:
    """How fast an arm answered.

    Attributes:
        mode: ``eager`` or ``compiled``.
        arm: Such as ``on``.
        tokens: How many it gave.
        seconds: How long that took.
        ratio: Its tokens a second by those of the baseline of its mode; None where the two were not
            booted in one run.
        resumed: Whether an earlier run booted it.
    """

    mode: str
    arm: str
    tokens: int
    seconds: float
    ratio: float | None
    resumed: bool

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds


def speeds_of(run: PastRun | None) -> list[Speed]:
    """How fast each arm of a run's comparison answered, baselines first."""
    made = [
        Speed(
            *(each.mode, each.arm, each.tokens, each.seconds, each.ratio),
            resumed=each.measured_in != run.folder,
        )
        for each in (run.throughput if run else ())
        # What a damaged file says is no speed.
        if run and each.mode != BOOT and each.tokens and 0 < each.seconds < float("inf")
    ]
    return sorted(made, key=_order)


def _order(speed: Speed) -> tuple[bool, int, str]:
    arms = (BASELINE, "self", "off", "on")
    place = arms.index(speed.arm) if speed.arm in arms else len(arms)
    return speed.mode != "eager", place, speed.arm
