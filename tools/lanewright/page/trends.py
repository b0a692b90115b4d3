"""What nights say in numbers, over time, by the history."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lanewright.history.band import NOT_COUNTED
from lanewright.history.past import PastRun, PastSpeed
from lanewright.page.nights import Nights, SeenNight
from lanewright.serve.features import BANKS

# Where a feature is proven as it is served, the best known first.
ON = ("eager.on", "compiled.on", "offline", "server")
MODES = ("eager", "compiled")


@dataclass(frozen=True)
class Line:
    """One of a trend's.

    Attributes:
        name: The lane, and the mode where there are two.
        values: One for each night, oldest first; None where it does not tell.
        bands: How far from 1 a ratio says nothing, as many; none for what is no ratio.
        words: What each ratio comes to beside that, as many; empty where there is none.
    """

    name: str
    values: Sequence[float | None]
    bands: Sequence[float | None] = ()
    words: Sequence[str] = ()

    def word(self, number: int) -> str:
        """What a night's number comes to; empty where that is not judged."""
        return self.words[number] if self.words else ""


@dataclass(frozen=True)
class Trend:
    """A number over nights.

    Attributes:
        key: Stem of its file.
        title: What it is.
        about: What it tells, and where the numbers are from.
        unit: ``count``, ``ratio`` or ``share``.
        nights: Names, oldest first.
        lines: Those that have a value at all.
    """

    key: str
    title: str
    about: str
    unit: str
    nights: Sequence[str]
    lines: Sequence[Line]

    @property
    def is_drawn(self) -> bool:
        """Whether it has two points to join."""
        return any(sum(v is not None for v in line.values) > 1 for line in self.lines)

    def rows(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Each night's numbers as they are read, each with its word, the newest first."""
        told = [
            (name, [(self.told(line.values[number]), line.word(number)) for line in self.lines])
            for number, name in enumerate(self.nights)
        ]
        return [row for row in reversed(told) if any(any(cell) for cell in row[1])]

    def told(self, value: float | None) -> str:
        """A number as people read it."""
        if value is None:
            return ""
        forms = {"count": f"{value:.0f}", "ratio": f"{value:.3f}", "share": f"{value:.2%}"}
        return forms[self.unit]


Value = Callable[[SeenNight, str], float | None]


def trends_of(nights: Nights) -> list[Trend]:
    """Every trend of these nights, those without a single number left out."""
    oldest_first = [*reversed(nights.seen)]
    names = [each.night.name for each in oldest_first]
    lanes = nights.lanes()

    def lines(of: Value) -> list[Line]:
        made = [Line(lane, [of(each, lane) for each in oldest_first]) for lane in lanes]
        return [line for line in made if any(value is not None for value in line.values)]

    speeds = [_speed_line(oldest_first, lane, mode) for mode in MODES for lane in lanes]
    found = [
        Trend(
            "conflicts",
            "Open conflicts",
            "Hunks that need a person, by each night's report.",
            "count",
            names,
            lines(_conflicts),
        ),
        Trend(
            "throughput",
            "Throughput beside the baseline",
            "Tokens a second with the lane's features on, by those of the unpatched pin in the same"
            " run; 1 is as fast. Shaded: the lane's own drift, within which a ratio says nothing.",
            "ratio",
            names,
            [line for line in speeds if any(value is not None for value in line.values)],
        ),
        Trend(
            "cold",
            "Cold share of picks",
            f"Picks that were served from the cold bank, by what was proven of {BANKS}.",
            "share",
            names,
            lines(_cold),
        ),
        Trend(
            "behind",
            "Commits behind upstream",
            "Between a lane's pin and where a rebase would take it, for lanes on a commit.",
            "count",
            names,
            lines(_behind),
        ),
    ]
    return [trend for trend in found if trend.lines]


def _conflicts(seen: SeenNight, lane: str) -> float | None:
    past = seen.past.get(lane)
    return past.conflicts if past else None


def _behind(seen: SeenNight, lane: str) -> float | None:
    past = seen.past.get(lane)
    return past.commits_behind if past else None


def _speed_line(oldest_first: Sequence[SeenNight], lane: str, mode: str) -> Line:
    """A lane's ratios in a mode where they count, each with its band and its word."""
    runs = [seen.run(lane) for seen in oldest_first]
    speeds = [_of_features(run, mode) for run in runs]
    return Line(
        f"{lane}, {mode}",
        [speed.ratio if speed and speed.word != NOT_COUNTED else None for speed in speeds],
        [_width(run, mode) for run in runs],
        [speed.word if speed else "" for speed in speeds],
    )


def _of_features(run: PastRun | None, mode: str) -> PastSpeed | None:
    speeds = run.throughput if run else []
    return next((each for each in speeds if (each.mode, each.arm) == (mode, "on")), None)


def _width(run: PastRun | None, mode: str) -> float | None:
    return next((band.width for band in (run.bands if run else []) if band.mode == mode), None)


def _cold(seen: SeenNight, lane: str) -> float | None:
    run = seen.run(lane)
    shares = (_share(facts) for facts in _of_banks(run)) if run else ()
    return next((share for share in shares if share is not None), None)


def _of_banks(run: PastRun) -> Iterable[dict[str, int]]:
    proofs = [proof for proof in run.proofs if proof.feature == BANKS and proof.on]
    return (proof.facts for place in ON for proof in proofs if proof.place == place)


def _share(facts: dict[str, int]) -> float | None:
    cold, hot = facts.get("cold_picks"), facts.get("hot_picks")
    return cold / (cold + hot) if cold is not None and hot is not None and cold + hot else None


def values_of(lines: Iterable[Line]) -> list[float]:
    """All numbers that there are."""
    return [value for line in lines for value in line.values if value is not None]
