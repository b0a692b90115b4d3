"""Tokens a second of each arm of a comparison, beside its baseline's of the same run and its own drift."""

from dataclasses import dataclass

from lanewright.history.band import BASELINE, Timed
from lanewright.history.past import PastRun, PastSpeed
from lanewright.history.speed_words import AS_SERVED, percent, stands_on

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
        word: What the ratio comes to beside the lane's own drift; empty for controls.
        why: Why it is not counted, or by how much it is another than the baseline's.
        rate: Tokens a second; None where its numbers are damaged.
    """

    mode: str
    arm: str
    tokens: int
    seconds: float
    ratio: float | None
    resumed: bool
    word: str
    why: str
    rate: float | None

    @property
    def as_served(self) -> bool:
        """Whether it is the lane with its features off, or on; others are there for equality alone."""
        return bool(self.word) and self.arm in AS_SERVED


@dataclass(frozen=True)
class Drift:
    """How far a lane's unpatched pin is from itself in a mode.

    Attributes:
        mode: ``eager`` or ``compiled``.
        width: How far from 1 a ratio says nothing, for people.
        stands: What that stands on.
    """

    mode: str
    width: str
    stands: str


def speeds_of(run: PastRun | None) -> list[Speed]:
    """How fast each arm of a run's comparison answered, baselines first."""
    arms = [each for each in run.throughput if each.mode != BOOT] if run else []
    return sorted((_speed(each, run.folder) for each in arms if run), key=_order)


def _speed(each: PastSpeed, run: str) -> Speed:
    resumed = each.measured_in != run
    timed = Timed(each.tokens, each.seconds, each.measured_in, each.cores)
    by = percent(each.ratio - 1, sign=True) if each.ratio is not None else ""
    return Speed(
        *(each.mode, each.arm, each.tokens, each.seconds, each.ratio),
        resumed=resumed,
        word=each.word,
        why=each.why or (by if each.word else ""),
        rate=timed.rate,
    )


def drifts_of(run: PastRun | None) -> list[Drift]:
    """A lane's own drift in each mode that a run compared, eager first."""
    bands = sorted(run.bands, key=lambda band: band.mode != "eager") if run else []
    return [
        Drift(band.mode, percent(band.width), stands_on(band, run.hardware))
        for band in bands
        if run
    ]


def _order(speed: Speed) -> tuple[bool, int, str]:
    arms = (BASELINE, "self", "off", "on")
    place = arms.index(speed.arm) if speed.arm in arms else len(arms)
    return speed.mode != "eager", place, speed.arm
