"""Pull requests by number, each with what became of it in every lane that knows of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanewright.page.nights import Nights, SeenNight
from lanewright.page.outputs import report_of
from lanewright.report.model import EntryReport, Report

# GitHub's own numbers are far below.
LARGEST = 10**9


@dataclass(frozen=True)
class InLane:
    """A pull request in a lane.

    Attributes:
        lane: Which.
        seen: The night that tells.
        report: All that it said of the lane.
        entry: What it said of this one.
    """

    lane: str
    seen: SeenNight
    report: Report
    entry: EntryReport


@dataclass(frozen=True)
class Pull:
    """A pull request.

    Attributes:
        number: Its number.
        lanes: In which it is carried or watched.
    """

    number: int
    lanes: list[InLane]

    @property
    def title(self) -> str:
        """What it is, in a line, or empty."""
        return next((each.entry.title for each in self.lanes if each.entry.title), "")

    @property
    def state(self) -> str:
        """Whether it is open, closed, merged; or empty."""
        return next((each.entry.state for each in self.lanes if each.entry.state), "")


def newest_reports(nights: Nights) -> Mapping[str, tuple[SeenNight, Report]]:
    """By lane, the report of the newest night that has one."""
    found: dict[str, tuple[SeenNight, Report]] = {}
    for lane in nights.lanes():
        for seen in nights.seen:
            if report := report_of(seen, lane):
                found[lane] = (seen, report)
                break
    return found


def pulls_of(reports: Mapping[str, tuple[SeenNight, Report]]) -> list[Pull]:
    """Every pull request of these reports, by number."""
    found: dict[int, list[InLane]] = {}
    for lane, (seen, report) in reports.items():
        for entry in report.entries:
            if entry.number is not None and 0 < entry.number < LARGEST:
                found.setdefault(entry.number, []).append(InLane(lane, seen, report, entry))
    return [Pull(number, lanes) for number, lanes in sorted(found.items())]
