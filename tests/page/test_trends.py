"""Numbers over nights, and their plots."""

import json
import shutil
import sqlite3
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from lanewright.history.database import FILE
from lanewright.history.taking_in import take_in
from lanewright.page.making import write_page
from lanewright.page.nights import read_nights
from lanewright.page.plots import drawn
from lanewright.page.trends import Line, Trend, trends_of
from lanewright.places import Places
from lanewright.project import Project
from tests.page.hostile import LANES
from tests.page.reading import read

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def trends(hostile: Places) -> dict[str, Trend]:
    return {trend.key: trend for trend in trends_of(read_nights(hostile))}


def line(trend: Trend, name: str) -> Line:
    return next(each for each in trend.lines if each.name == name)


def test_numbers_are_those_of_nights_and_records(trends: dict[str, Trend]) -> None:
    assert list(trends) == ["conflicts", "throughput", "cold"]
    assert trends["conflicts"].nights[0] == "20261201T001504Z"
    assert line(trends["conflicts"], LANES[1]).values == [None, None, 1, 2, 1, 2, 1, 1, 2]
    ratios = line(trends["throughput"], f"{LANES[0]}, eager").values
    assert ratios[0] == pytest.approx(2.0 / 2.12, abs=1e-4)
    assert line(trends["cold"], LANES[0]).values[:3] == [0.107, 0.114, 0.121]


def test_an_arm_of_an_earlier_run_has_no_ratio(hostile: Places) -> None:
    for file in hostile.state.glob(f"runs/{LANES[0]}/*/record.json"):
        record = json.loads(file.read_text())
        record["equality"]["resumed"] = {
            "eager.on": {"run": "x", "finished": "2026-12-01T00:00:00Z"}
        }
        file.write_text(json.dumps(record))
    take_in(hostile)
    trends = {trend.key: trend for trend in trends_of(read_nights(hostile))}
    names = [each.name for each in trends["throughput"].lines]
    assert names == [f"{LANES[1]}, eager", f"{LANES[2]}, eager"]


def test_what_was_pruned_is_in_the_lines_still(hostile: Places) -> None:
    before = trends_of(read_nights(hostile))
    for folder in ("nights", "runs"):
        shutil.rmtree(hostile.state / folder)
    assert trends_of(read_nights(hostile)) == before


def test_commits_behind_are_the_historys(hostile: Places) -> None:
    with sqlite3.connect(hostile.state / FILE) as connection:
        connection.execute(
            "UPDATE night_lanes SET commits_behind = 120 WHERE lane = ? AND night LIKE '20261208%'",
            (LANES[0],),
        )
    trends = {trend.key: trend for trend in trends_of(read_nights(hostile))}
    assert line(trends["behind"], LANES[0]).values == [*[None] * 7, 120, None]


def test_a_plot_says_what_it_shows(trends: dict[str, Trend]) -> None:
    svg = drawn(trends["cold"])
    assert svg == drawn(trends["cold"])
    root = ET.fromstring(svg)  # noqa: S314 - made here
    assert root.find(f"{SVG}title").text == "Cold share of picks"  # type: ignore[union-attr]
    said = root.find(f"{SVG}desc").text or ""  # type: ignore[union-attr]
    assert (
        f"{LANES[0]}: 10.70% in night 20261201T001504Z, 10.70% in night 20261209T001504Z"
        not in said
    )
    assert f"{LANES[0]}: 10.70% in night 20261201T001504Z" in said
    names = {each.text for each in root.iter(f"{SVG}text")}
    assert {*LANES, "12-01", "12-09"} <= names
    assert "2026-" not in svg.partition("</desc>")[2]
    assert "matplotlib" not in svg.partition("</desc>")[2].replace("matplotlib.axis", "")
    assert "http" not in svg.replace("http://www.w3.org/", "")
    assert "prefers-color-scheme: dark" in svg
    assert "#0102" not in svg


def test_numbers_are_in_a_table_too(project: Project, hostile: Places, tmp_path: Path) -> None:
    page = write_page(project, hostile, tmp_path / "page").folder
    for figure in read(page / "index.html").all("figure"):
        (image,) = figure.all("img")
        assert (page / image.attributes["src"]).is_file()
        nights = [row.within[0].text for row in figure.all("tr")]
        assert nights == ["Night", *(f"202612{day:02}T001504Z" for day in range(9, 0, -1))]


def test_one_night_is_no_line() -> None:
    trend = Trend("a", "A", "", "count", ["20261201T001504Z"], [Line("a", [1])])
    assert not trend.is_drawn
    assert Trend("a", "A", "", "count", ["1", "2"], [Line("a", [1, 2])]).is_drawn
