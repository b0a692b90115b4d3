"""A lane's night: all that its page shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanewright.history.past import PastRun
from lanewright.nightly.night import Step
from lanewright.nightly.told import of_lane
from lanewright.page.contents import Contents, contents_of
from lanewright.page.nights import SeenNight
from lanewright.page.outputs import Bisected, Standing, bisect_of, report_of, standing_of
from lanewright.page.recorded import Record, read_record
from lanewright.page.shown import last_lines
from lanewright.page.throughput import Drift, Speed, drifts_of, speeds_of
from lanewright.page.troubles import Trouble, divided, troubles_of
from lanewright.places import Places
from lanewright.report.model import Report
from lanewright.terminal import quoted

# Of these the end of the log is shown.
TOLD = ("failed", "conflicts", "not run")


@dataclass(frozen=True)
class Tried:
    """A step.

    Attributes:
        step: It.
        word: What it came to.
        command: What it typed; empty where it did not.
        why: What it said last, without what is to be typed next.
        next: What is to be typed next.
        said: The end of its log where it did not pass, or what upstream would change.
    """

    step: Step
    word: str
    command: str
    why: str
    next: Sequence[str]
    said: str


@dataclass(frozen=True)
class LaneNight:
    """A lane in a night.

    Attributes:
        lane: Which.
        word: What it came to.
        steps: In order.
        report: What became of its hunks.
        standing: Where it stood.
        bisected: What a search found.
        trouble: Why it did not pass; None where it did.
        run: Name of the folder of its boot's record.
        record: That; None where it is gone.
        past: What the history kept of that.
        speeds: How fast each arm was.
        drifts: What that is judged by, a mode each.
        contents: What is in its image.
    """

    lane: str
    word: str
    steps: Sequence[Tried]
    report: Report | None
    standing: Standing | None
    bisected: Bisected | None
    trouble: Trouble | None
    run: str | None
    record: Record | None
    past: PastRun | None
    speeds: Sequence[Speed]
    drifts: Sequence[Drift]
    contents: Contents | None


def lane_night(places: Places, seen: SeenNight, lane: str, image: Contents | str) -> LaneNight:
    """All that is known of a lane's night.

    Args:
        places: Has the runs.
        seen: The night.
        lane: Which.
        image: What the lane's image tells of itself now, or why nothing does.
    """
    boot = seen.step(lane, "boot")
    run = boot.run if boot else None
    record = read_record(places, lane, run)
    return LaneNight(
        lane=lane,
        word=seen.word(lane),
        steps=[_tried(seen, step) for step in of_lane(seen.night, lane)],
        report=report_of(seen, lane),
        standing=standing_of(seen, lane),
        bisected=bisect_of(seen, lane),
        trouble=next((each for each in troubles_of(seen) if each.lane == lane), None),
        run=run,
        record=record,
        past=seen.run(lane),
        speeds=speeds_of(seen.run(lane)),
        drifts=drifts_of(seen.run(lane)),
        contents=contents_of(image, record),
    )


def _tried(seen: SeenNight, step: Step) -> Tried:
    why, commands = divided(step.why)
    return Tried(
        step=step,
        word=seen.of_step(step.verdict),
        command=" ".join(["lanewright", *map(quoted, step.command)]) if step.command else "",
        why=why,
        next=commands,
        said=last_lines("\n".join(_said(seen, step))),
    )


def _said(seen: SeenNight, step: Step) -> Iterator[str]:
    if step.verdict in TOLD:
        yield seen.read(step.log).decode("utf-8", "replace")
    elif step.name == "drift":
        yield seen.read(step.out).decode("utf-8", "replace")
