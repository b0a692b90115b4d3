"""How far a lane's unpatched pin is from itself, and what an arm's throughput comes to beside that."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Word = Literal["within the drift", "faster", "slower", "not counted"]
WITHIN: Word = "within the drift"
FASTER: Word = "faster"
SLOWER: Word = "slower"
NOT_COUNTED: Word = "not counted"
BASELINE, CONTROL = "baseline", "self"
# The last so many runs tell of a machine as it is these weeks.
RUNS = 20
# One in so many is an outlier: a night in which something else ran would hide all others for weeks.
OUTLIERS = 10
# Times are noted in ms, and first answers fill caches: 8 answers of 64 tokens, and no fewer.
LEAST_TOKENS = 512
# Of a ratio. What is told is what is judged, so that an arm on the band's edge is within it.
DIGITS = 4


@dataclass(frozen=True)
class Timed:
    """How fast an arm answered, as a run has it.

    Attributes:
        tokens: Of all answers.
        seconds: That these took.
        measured_in: Name of the run's folder that it was booted in.
        cores: How many its engine kept to; None where that is not told.
    """

    tokens: int
    seconds: float
    measured_in: str
    cores: int | None

    @property
    def rate(self) -> float | None:
        """Tokens a second; None where the numbers are none that a clock and a model give."""
        rate = self.tokens / self.seconds if self.tokens > 0 and self.seconds > 0 else 0.0
        return rate if 0 < rate < math.inf else None


def ratio_of(arm: Timed, baseline: Timed | None) -> float | None:
    """An arm beside its baseline: of one run, on one machine in one hour, or it says nothing."""
    if not baseline or arm.measured_in != baseline.measured_in:
        return None
    if arm.rate is None or baseline.rate is None:
        return None
    ratio = arm.tokens * baseline.seconds / (baseline.tokens * arm.seconds)
    return round(ratio, DIGITS) if math.isfinite(ratio) else None


def why_not_counted(run: str, arm: Timed, baseline: Timed | None) -> str:
    """Why an arm's throughput says nothing beside its baseline's; empty where it does.

    Args:
        run: Name of the run's folder that tells of both.
        arm: The arm.
        baseline: Of its mode; None where that has none.
    """
    return next(_whys(run, arm, baseline), "") if baseline else "its mode has no baseline"


def _whys(run: str, arm: Timed, baseline: Timed) -> Iterator[str]:
    """Yield why an arm is not counted, what it was measured in before what was measured."""
    if arm.measured_in != run:
        yield f"it was resumed from run {arm.measured_in}"
    if baseline.measured_in != run:
        yield f"its baseline was resumed from run {baseline.measured_in}"
    for whose, each in (("its", arm), ("its baseline's", baseline)):
        if each.rate is None:
            yield f"{whose} {each.tokens} tokens in {each.seconds} s are no measure"
    if arm.cores != baseline.cores:
        yield f"it ran on {_cores(arm)}, its baseline on {_cores(baseline)}"
    if arm.tokens != baseline.tokens:
        yield f"it gave {arm.tokens} tokens, its baseline {baseline.tokens}"
    if arm.tokens < LEAST_TOKENS:
        yield f"{arm.tokens} tokens are too few: {LEAST_TOKENS} are needed"
    if ratio_of(arm, baseline) is None:
        yield "it is farther from its baseline than a number can tell"


def _cores(timed: Timed) -> str:
    if timed.cores is None:
        return "cores that are not told"
    return f"{timed.cores} core{'' if timed.cores == 1 else 's'}"


def distance(ratio: float) -> float:
    """How far a ratio is from 1, either way."""
    return round(abs(ratio - 1), DIGITS)


def spread(ratios: Sequence[float]) -> float | None:
    """How far self controls were from their baselines: the farthest, one in ten of them left out.

    With fewer than ten it is the farthest; None without any.

    Args:
        ratios: Tokens a second of self controls by those of their baselines, one for each run.
    """
    distances = sorted(map(distance, ratios))
    return distances[len(distances) - 1 - len(distances) // OUTLIERS] if distances else None


def width(floor: float, own: float | None, ratios: Sequence[float]) -> float:
    """The band: how far from 1 a ratio says nothing, either way.

    A run's own self control counts whole, for it says what the machine did in that very window.

    Args:
        floor: What it is at least.
        own: Ratio of the run's own self control; None where it does not count.
        ratios: Of the last runs' self controls, that one among them.
    """
    seen = [floor, spread(ratios) or 0.0, distance(own) if own is not None else 0.0]
    return round(max(seen), DIGITS)


def word_of(ratio: float, band: float) -> Word:
    """What a ratio comes to beside a band; on its edge it is within."""
    if distance(ratio) <= band:
        return WITHIN
    return FASTER if ratio > 1 else SLOWER
