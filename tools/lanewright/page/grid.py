"""The last nights as a grid."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanewright.page.nights import Nights, SeenNight


@dataclass(frozen=True)
class Cell:
    """A lane in a night.

    Attributes:
        lane: Which.
        word: What it came to; empty where that night did not try it.
        moved: Whether upstream had moved away from it.
    """

    lane: str
    word: str
    moved: bool


@dataclass(frozen=True)
class Night:
    """A row of the grid.

    Attributes:
        name: Of the night.
        started: When it began.
        cells: One for each lane.
        kept: Whether its folder is there; else only the history tells of it.
    """

    name: str
    started: str
    cells: Sequence[Cell]
    kept: bool


def grid(nights: Nights) -> list[Night]:
    """Nights by lanes, the newest night first."""
    lanes = nights.lanes()
    return [
        Night(
            each.night.name,
            each.night.started,
            [_cell(each, lane) for lane in lanes],
            kept=each.folder is not None,
        )
        for each in nights.seen
    ]


def _cell(seen: SeenNight, lane: str) -> Cell:
    tried = lane in seen.night.lanes
    return Cell(lane, seen.word(lane) if tried else "", tried and seen.moved(lane))
