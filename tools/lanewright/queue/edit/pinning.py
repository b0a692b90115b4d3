"""A pull request that a series names already, pinned where it stands."""

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edit.edit import with_entry_value
from lanewright.queue.edit.edited import read_text
from lanewright.queue.pull.offered import offered


def pinned_in_place(
    project: Project, places: Places, lane: str, text: str, index: int
) -> tuple[str, tuple[str, ...]]:
    """The series with the commits of one entry, counted from 0, and what a person may not expect.

    What the series says of the entry beside them stays, and so does its place.

    Raises:
        LanewrightError: The pull request cannot be had, or changes nothing that a lane has.
    """
    series = read_text(project, lane, text)
    found = offered(project, places, series, series.entry[index].pull or 0)
    text = with_entry_value(text, index, "head", found.head)
    text = with_entry_value(text, index, "base", found.base)
    return text, (
        f"#{found.number}: pinned at {found.head[:12]}, on {found.base[:12]}",
        *found.told,
    )
