"""A page of all nights, file by file; nothing in it is of the hour at which it is made."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from lanewright.page.contents import image_of
from lanewright.page.grid import grid
from lanewright.page.lane import lane_night
from lanewright.page.links import Links
from lanewright.page.nights import read_nights
from lanewright.page.plots import drawn
from lanewright.page.pulls import newest_reports, pulls_of
from lanewright.page.rendering import renderer
from lanewright.page.swapping import replacing
from lanewright.page.trends import trends_of
from lanewright.places import Places
from lanewright.project import Project

STYLE = Path(__file__).with_name("page.css")


@dataclass(frozen=True)
class Made:
    """A page.

    Attributes:
        folder: Where it is.
        nights: How many it shows.
        damaged: Names of nights that could not be read, and why.
        pulls: How many pull requests have a page of their own.
        fault: Why the history tells nothing, and no trend is shown; empty where it does.
    """

    folder: Path
    nights: int
    damaged: list[tuple[str, str]]
    pulls: int
    fault: str


def default_place(places: Places) -> Path:
    """Where a page is written if nobody says where."""
    return places.state / "page"


def write_page(project: Project, places: Places, place: Path) -> Made:
    """Write a page of the newest nights, whole or not at all.

    Args:
        project: Names upstream, and has the lanes' locks.
        places: Has nights, records and images.
        place: A folder that is absent, empty, or a page of ours.

    Raises:
        LanewrightError: Something else is there.
        OSError: It cannot be written.
    """
    nights = read_nights(places)
    pulls = pulls_of(newest_reports(nights))
    render = renderer(Links.of(project, frozenset(pull.number for pull in pulls)))
    images = {lane: image_of(project, places, lane) for lane in nights.lanes()}
    trends = trends_of(nights)
    with replacing(place) as folder:

        def write(name: str, content: bytes) -> None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)

        shutil.copyfile(STYLE, folder / STYLE.name)
        shows = {"nights": nights, "grid": grid(nights), "pulls": pulls, "trends": trends}
        write("index.html", render("index.html", **shows))
        for trend in trends:
            if trend.is_drawn:
                write(f"trends/{trend.key}.svg", drawn(trend).encode())
        for seen in nights.seen:
            lanes = [lane_night(places, seen, each, images[each]) for each in seen.night.lanes]
            of, up = f"nights/{seen.night.name}", "../../"
            write(
                f"{of}/index.html",
                render("night.html", up=up, seen=seen, lanes=lanes),
            )
            for each in lanes:
                write(
                    f"{of}/lane-{each.lane}.html", render("lane.html", up=up, seen=seen, lane=each)
                )
        for pull in pulls:
            write(f"pulls/{pull.number}.html", render("pull.html", up="../", pull=pull))
    return Made(place, len(nights.seen), nights.damaged, len(pulls), nights.fault)
