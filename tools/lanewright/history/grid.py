"""Nights as a grid: a line for each, a column for each lane."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lanewright.history.band import SLOWER
from lanewright.history.past import PastLane, PastNight
from lanewright.history.speed_words import slower_as_served
from lanewright.history.verdict import verdict_of
from lanewright.report.shown import in_a_line

if TYPE_CHECKING:
    from rich.table import Table

OF_ALL = "of all lanes"
COLOURS = {
    "passed": "green",
    "failed": "red",
    "conflicts": "red",
    "drift": "yellow",
    "not run": "yellow",
    "pending": "yellow",
    SLOWER: "yellow",
}


def grid(nights: Sequence[PastNight]) -> "Table":
    """Make the grid.

    Args:
        nights: The newest first.
    """
    from rich import box  # noqa: PLC0415 - 100 ms that other commands need not pay
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    lanes = list(dict.fromkeys(lane.lane for night in nights for lane in night.lanes))
    with_all = any(night.steps for night in nights)
    table = Table(box=box.SIMPLE, padding=(0, 1), pad_edge=False)
    for name in ["night", *lanes, *([OF_ALL] if with_all else [])]:
        table.add_column(Text(in_a_line(name)), overflow="fold")
    for night in nights:
        found = {lane.lane: lane for lane in night.lanes}
        cells = [_cell(found[lane]) if lane in found else ("", "-") for lane in lanes]
        if with_all:
            verdict, where = verdict_of(night.steps)
            cells.append((verdict, f"{verdict}{f': {where}' if where else ''}" or "-"))
        table.add_row(
            Text(in_a_line(_head(night))),
            *(Text(in_a_line(text), style=COLOURS.get(verdict, "")) for verdict, text in cells),
        )
    return table


def _head(night: PastNight) -> str:
    return ", ".join([night.name, *standing_of(night)])


def standing_of(night: PastNight) -> Iterator[str]:
    """Yield what else is to be said of a night."""
    if night.finished is None:
        yield "unfinished"
    if night.pruned:
        yield "pruned"


def _cell(lane: PastLane) -> tuple[str, str]:
    word = SLOWER if lane.verdict == "passed" and slower_in(lane) else lane.verdict
    return word, told_verdict(lane)


def slower_in(lane: PastLane) -> list[str]:
    """Arms that are slower than the lane's own drift explains, of the runs of a night."""
    return [arm for run in lane.runs for arm in slower_as_served(run)]


def told_verdict(lane: PastLane) -> str:
    """E.g. ``failed: boot, drift, 2 left out``; a dash where nothing was to be tried."""
    others = [f"{lane.left_out} left out"] if lane.left_out and lane.verdict != "left out" else []
    drift = ["drift"] if lane.drift and lane.verdict != "drift" else []
    head = f"{lane.verdict}: {lane.where}" if lane.where else lane.verdict
    slower = [f"{SLOWER}: {' and '.join(slower_in(lane))}"] if slower_in(lane) else []
    return ", ".join([head or "-", *drift, *slower, *others])
