"""Throughput beside the lane's own drift, on the pages of lanes and nights and in the trend."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from lanewright.history.taking_in import take_in
from lanewright.page.making import write_page
from lanewright.page.nights import read_nights
from lanewright.page.plots import around_one, drawn
from lanewright.page.shown import shown
from lanewright.page.trends import Line, Trend, trends_of
from lanewright.places import Places
from lanewright.project import Project
from tests.page.hostile import LANES, SCRIPT, answered
from tests.page.reading import Element, read

SVG = "{http://www.w3.org/2000/svg}"
EARLIER = {"run": f"20261130T001504Z {SCRIPT}", "finished": "2026-11-30T00:15:30Z"}
NIGHT = "20261209T001504Z"


def arm(places: Places, day: int, name: str, seconds: float, tokens: int = 512) -> None:
    (folder,) = places.state.glob(f"runs/{LANES[0]}/202612{day:02}*/equality")
    (folder / f"{name}.json").write_text(json.dumps(answered(tokens, seconds)))


def resumed(places: Places, day: int, name: str) -> None:
    (file,) = places.state.glob(f"runs/{LANES[0]}/202612{day:02}*/record.json")
    record = json.loads(file.read_text())
    record["equality"]["resumed"] = {name: EARLIER}
    file.write_text(json.dumps(record))


@pytest.fixture
def mixed(hostile: Places) -> Places:
    """Of the first lane one night is faster, one within, one not counted; its drift is 4 % once."""
    for file in hostile.state.glob("history.sqlite*"):
        file.unlink()
    arm(hostile, 5, "lane.eager.on", 2.0 / 0.97)
    arm(hostile, 6, "lane.eager.on", 1.6)
    arm(hostile, 8, "pin.eager.self", 2.0 / 1.04)
    arm(hostile, 9, "lane.eager.off", 2.0)
    arm(hostile, 9, "lane.eager.swaps", 4.0)
    resumed(hostile, 9, "eager.on")
    take_in(hostile)
    return hostile


def trend_of(places: Places) -> Trend:
    return next(each for each in trends_of(read_nights(places)) if each.key == "throughput")


def table(page: Path) -> list[list[str]]:
    (found,) = [
        each
        for each in read(page).all("section")
        if any(h2.text.startswith("Throughput") for h2 in each.all("h2"))
    ]
    return [[_text(cell) for cell in row.within] for row in found.all("tr")]


def _text(cell: Element) -> str:
    return " ".join(cell.text.split())


def test_a_line_has_a_band_and_a_word_for_each_night(mixed: Places) -> None:
    line = trend_of(mixed).lines[0]
    assert line.name == f"{LANES[0]}, eager"
    assert line.words == [
        *("slower", "slower", "slower", "slower", "within the drift", "faster"),
        *("slower", "slower", "not counted"),
    ]
    assert line.values == [0.9434, 0.9346, 0.9259, 0.9524, 0.97, 1.25, 0.9259, 0.9524, None]
    # Of ten runs one would be left out; of nine it is the farthest.
    assert line.bands == [*(7 * [0.03]), 0.04, 0.04]


def test_what_does_not_count_is_no_point_of_the_line(mixed: Places) -> None:
    for name in ("pin.eager.baseline", "lane.eager.on"):
        arm(mixed, 7, name, 2.0, 511)
    for file in mixed.state.glob("history.sqlite*"):
        file.unlink()
    take_in(mixed)
    line = trend_of(mixed).lines[0]
    assert (line.values[6], line.words[6]) == (None, "not counted")


def test_a_night_that_compared_nothing_has_no_band(hostile: Places) -> None:
    line = next(each for each in trend_of(hostile).lines if each.name == f"{LANES[1]}, eager")
    assert line.bands == [None, None, 0.03, None, 0.03, 0.03, 0.03, 0.03, 0.03]
    assert [bool(word) for word in line.words] == [width is not None for width in line.bands]


def test_the_trends_numbers_have_their_words(
    project: Project, mixed: Places, tmp_path: Path
) -> None:
    page = write_page(project, mixed, tmp_path / "page").folder
    figure = next(
        each for each in read(page / "index.html").all("figure") if "own drift" in each.text
    )
    cells = {_text(row.within[0]): _text(row.within[1]) for row in figure.all("tr")}
    assert cells[NIGHT] == "○ not counted"
    assert cells["20261208T001504Z"] == "0.952 ! slower"
    assert cells["20261206T001504Z"] == "1.250 ↗ faster"
    assert cells["20261205T001504Z"] == "0.970 ○ within the drift"


def test_a_lanes_page_has_every_arm_and_a_nights_what_is_served(
    project: Project, mixed: Places, tmp_path: Path
) -> None:
    page = write_page(project, mixed, tmp_path / "page").folder / "nights" / NIGHT
    why = f"it was resumed from run {EARLIER['run']}"
    lane = table(page / f"lane-{LANES[0]}.html")
    assert [row[:4] for row in lane] == [
        ["Mode", "Arm", "Ratio", "Beside the drift"],
        ["eager", "baseline", "1.000", ""],
        ["eager", "self", "0.990", ""],
        ["eager", "off", "1.000", "○ within the drift +0.00 %"],
        ["eager", "on", "of an earlier run", f"○ not counted {why}"],
        ["eager", "swaps", "0.500", "! slower -50.00 %"],
    ]
    facts = {
        dt.text: dd.text
        for terms in read(page / f"lane-{LANES[0]}.html").all("dl")
        for dt, dd in zip(terms.all("dt"), terms.all("dd"), strict=True)
    }
    assert facts["Own drift, eager"] == (
        "4.00 % either way: at least 3.00 %, by this run's self control 0.99 %, by those of 9 runs"
        f" on {SCRIPT} 4.00 %"
    )
    night = table(page / "index.html")
    assert night[1:3] == [
        [LANES[0], "eager", "off", "1.000", "○ within the drift +0.00 %", "4.00 %"],
        [LANES[0], "eager", "on", "", f"○ not counted {why}", "4.00 %"],
    ]
    assert [row[0] for row in night[3:]] == [LANES[1], LANES[2]]


def test_damaged_numbers_are_shown_as_none(
    project: Project, hostile: Places, tmp_path: Path
) -> None:
    for file in hostile.state.glob("history.sqlite*"):
        file.unlink()
    arm(hostile, 9, "lane.eager.on", 0.0)
    take_in(hostile)
    page = write_page(project, hostile, tmp_path / "page").folder / "nights" / NIGHT
    *_, on = table(page / f"lane-{LANES[0]}.html")
    why = "its 512 tokens in 0.0 s are no measure"
    assert on == ["eager", "on", "", f"○ not counted {why}", "512", "0.00", ""]


def test_nothing_of_it_is_green() -> None:
    kinds = {
        word: shown(word).kind for word in ("slower", "faster", "within the drift", "not counted")
    }
    assert kinds == {
        "slower": "amber",
        "faster": "moved",
        "within the drift": "quiet",
        "not counted": "quiet",
    }


def test_the_plot_is_shaded_where_a_night_has_a_band() -> None:
    nights = [f"202612{day:02}T001504Z" for day in (1, 2, 3)]
    plain = Line("a", [0.98, None, 0.9])
    banded = Line("a", [0.98, None, 0.9], [0.03, None, 0.08], ["within the drift", "", "slower"])
    svgs = []
    for line in (plain, banded):
        svg = drawn(Trend("throughput", "T", "About.", "ratio", nights, [line]))
        assert svg == drawn(Trend("throughput", "T", "About.", "ratio", nights, [line]))
        assert "#0102" not in svg
        svgs.append(ET.fromstring(svg))  # noqa: S314 - made here
    shades = [
        [each for each in svg.iter(f"{SVG}path") if "fill-opacity: 0.1" in _style(svg, each)]
        for svg in svgs
    ]
    # One for each night that has one: they are of two widths, and one between has none.
    assert [len(each) for each in shades] == [0, 2]
    said = svgs[1].find(f"{SVG}desc").text or ""  # type: ignore[union-attr]
    assert said == (
        f"About. a: 0.980 in night {nights[0]}, 0.900 in night {nights[2]}, own drift 8.00 %."
    )


def _style(svg: ET.Element, path: ET.Element) -> str:
    """Of a path, or of what shows it."""
    link = "{http://www.w3.org/1999/xlink}href"
    uses = [each for each in svg.iter(f"{SVG}use") if each.get(link) == f"#{path.get('id')}"]
    return " ".join(each.get("style", "") for each in (path, *uses))


@pytest.mark.parametrize(
    ("values", "bands", "low", "high"),
    [
        ([0.98, 1.01], [0.03, 0.03], 0.93, 1.07),
        ([0.5, 1.0], [0.03, 0.03], 0.45, 1.11),
        ([0.98, 1.0], [0.6, 0.6], 0.0, 2.4),
    ],
)
def test_it_is_drawn_so_that_the_band_is_seen(
    values: list[float], bands: list[float], low: float, high: float
) -> None:
    trend = Trend("t", "T", "", "ratio", ["1", "2"], [Line("a", values, bands, ["x", "x"])])
    assert around_one(trend) == pytest.approx((low, high), abs=0.01)
