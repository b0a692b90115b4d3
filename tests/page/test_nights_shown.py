"""Nights as a page shows them; those of stand-in lanes are real."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from lanewright.page import making
from lanewright.places import Places
from lanewright.project import Project
from tests.commands.stand_in_lane import Lay
from tests.nightly.nights import add_lane, folders, night, step_of
from tests.page.reading import Element, pages, read, targets

Capture = pytest.CaptureFixture[str]
WRONG = ("vllm/sampler.py", "    token = state %", "    token = (state + on) %")


def section(root: Element, title: str) -> Element:
    """The part of a page that has this heading."""
    (found,) = [
        each
        for each in root.all("section")
        if any(h.text.startswith(title) for h in each.all("h2"))
    ]
    return found


def rows(table: Element) -> list[list[str]]:
    """Cells' texts, blanks as one."""
    return [
        [" ".join(cell.text.split()) for cell in row.within]
        for body in table.all("tbody")
        for row in body.all("tr")
    ]


def test_a_night_ends_with_its_page(lay: Lay, capfd: Capture) -> None:
    """What failed, why, what to type, and which hunk it is: all of it is where a reader looks."""
    world = lay(edit=WRONG)
    add_lane(world, "broken", 'patch = "own/hook.patch"', 'patch = "own/none.patch"')
    told = world.root.parent / "told"
    with (world.root / "upstream.toml").open("a") as upstream:
        upstream.write(f'\n[nightly]\nnotify = "cp -r {world.places.state}/page {told}"\n')
    capfd.readouterr()
    assert world.run("nightly", "sample", "broken") == 5
    page = world.places.state / "page"
    assert f"page: {page / 'index.html'}" in capfd.readouterr().err
    assert (told / "index.html").read_bytes() == (page / "index.html").read_bytes()
    assert all(
        file is None or file.is_file() for each in pages(page) for _, file, _ in targets(each)
    )
    found = night(world)
    see_first_page(read(page / "index.html"), found)
    lane = read(page / "nights" / found["name"] / "lane-sample.html")
    see_steps(lane, found)
    booted = step_of(found, "sample", "boot")["run"]
    see_record(
        lane, json.loads((world.places.state / "runs/sample" / booted / "record.json").read_text())
    )
    bisect = folders(world)[-1] / step_of(found, "sample", "bisect")["out"]
    see_culprit(lane, json.loads(bisect.read_text()))
    see_laid(
        lane,
        json.loads((folders(world)[-1] / step_of(found, "sample", "report")["out"]).read_text()),
    )
    see_speeds(lane)
    broken = read(page / "nights" / found["name"] / "lane-broken.html")
    assert "none.patch" in section(broken, "Steps").text
    assert "There is none" in section(broken, "Report").text


def see_first_page(index: Element, found: dict[str, Any]) -> None:
    lead = next(p.text for p in index.all("p"))
    assert lead.endswith(": 0 of 2 lanes passed, 2 failed.")
    (grid,) = section(index, "Lanes by night").all("table")
    when = f"{found['started'][:10]} {found['started'][11:16]} UTC"
    assert [cells[1:] for cells in rows(grid)] == [
        [f"✕ failed: {lane}, {when}" for lane in ("sample", "broken")]
    ]
    sample = next(li for li in index.all("li") if "trouble" in li.attributes.get("class", ""))
    links = {a.attributes["href"]: a.text for a in sample.all("a")}
    of = f"nights/{found['name']}/lane-sample.html"
    culprit = step_of(found, "sample", "bisect")["why"].partition(": ")[0]
    assert culprit.startswith("hook:vllm/sampler.py:")
    assert links[f"{of}#bisect"] == culprit
    assert links[f"{of}#carried"] == "Report of sample"


def see_steps(lane: Element, found: dict[str, Any]) -> None:
    steps = {h3.text: li for li in section(lane, "Steps").all("li") for h3 in li.all("h3")}
    assert list(steps) == [step["name"] for step in found["steps"] if step["lane"] == "sample"]
    for name, item in steps.items():
        step = step_of(found, "sample", name)
        words = " ".join(item.text.split())
        assert step["verdict"] in words
        command = f"lanewright {' '.join(step['command'])}"
        assert (command in words) == (bool(step["command"]) and step["exit_code"] is not None)
        if step["seconds"] is not None:
            assert f"{step['seconds']:.1f} s" in words
    assert "equality with its baseline: differs" in steps["boot"].text


def see_record(lane: Element, kept: dict[str, Any]) -> None:
    (table,) = section(lane, "Equality").all("table")
    arms = [
        (row["arm"], f"{row['equal']}/{row['prompts']}")
        for mode in kept["equality"]["modes"]
        for row in mode["rows"]
    ]
    shown = [
        [cell for cell in cells if not cell.startswith(("eager", "compiled"))]
        for cells in rows(table)
    ]
    assert [(cells[0], cells[2]) for cells in shown] == arms
    by_arm = {cells[0]: cells for cells in shown}
    assert by_arm["exchanged"][3] == "✓ yes"
    assert by_arm["on"][3] == "✕ no"
    assert "prompt 1 A, index 0: token 140 for 139" in by_arm["on"][4]
    terms, values = (section(lane, "Engine").all(name) for name in ("dt", "dd"))
    engine = {dt.text: dd.text for dt, dd in zip(terms, values, strict=True)}
    assert engine["moe_usage_counter"] == "True"
    image = section(lane, "Image")
    for text in (kept["tree"], kept["pin"]["commit"], "release:9.9.9", "hook", "expert_bank"):
        assert text in image.text


def see_culprit(lane: Element, bisected: dict[str, Any]) -> None:
    blamed = section(lane, "What is to blame")
    shown = [h3.text for h3 in blamed.all("h3")]
    assert sorted(shown) == sorted(part["part"] for part in bisected["parts"])
    assert shown[:1] == bisected["good_without"]
    added = [s.text for s in blamed.all("span") if s.attributes.get("class") == "line added"]
    assert any(text.startswith("+    token = (state + on)") for text in added)
    assert bisected["next"] in blamed.text
    entries = list(section(lane, "Report").all("details"))
    hook = next(entry for entry in entries if next(entry.all("span")).text == "✕ to blame")
    assert "hook" in next(hook.all("summary")).text
    assert "open" in hook.attributes
    assert f"#{hook.attributes['id']}" in {a.attributes["href"] for a in blamed.all("a")}


def see_laid(lane: Element, report: dict[str, Any]) -> None:
    """An overlay's files are a line with their number, and all of them once that is opened."""
    (laid,) = (entry["laid"] for entry in report["entries"] if entry["kind"] == "overlay")
    (shown,) = (
        each
        for each in section(lane, "Report").all("details")
        if each.attributes.get("class") == "laid"
    )
    assert "open" not in shown.attributes
    (line,) = shown.all("summary")
    packed = sum(path.startswith("expert_bank/") for path in laid)
    assert line.text.startswith(f"expert_bank: {packed} files, ")
    assert [each.text for each in shown.all("li")] == laid
    assert [each.text for each in section(lane, "Report").all("li") if each.text in laid] == laid


def see_speeds(lane: Element) -> None:
    speeds = rows(next(section(lane, "Throughput").all("table")))
    arms = ("baseline", "self", "off", "on")
    assert [cells[:2] for cells in speeds[:4]] == [["eager", arm] for arm in arms]
    assert speeds[0][2] == "1.000"
    assert all(re.fullmatch(r"\d+\.\d{3}", cells[2]) for cells in speeds)


def test_a_page_that_fails_changes_no_night(
    lay: Lay, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("none")

    world = lay()
    monkeypatch.setattr(making, "grid", broken)
    capfd.readouterr()
    assert world.run("nightly") == 0
    assert night(world)["finished"]
    assert not (world.places.state / "page").exists()
    err = capfd.readouterr().err
    assert "page: not written: ZeroDivisionError: none\n  next: lanewright page\n" in err


def test_a_history_that_cannot_be_read_keeps_no_page_from_being_written(
    project: Project, hostile: Places, capfd: Capture
) -> None:
    (hostile.state / "history.sqlite").write_text("no database at all")
    capfd.readouterr()
    assert run(["-C", str(project.root), "page"]) == 0
    err = capfd.readouterr().err
    assert "page: without trends, for the history tells nothing: " in err
    assert "history.sqlite is no database" in err
    index = read(hostile.state / "page" / "index.html")
    assert "is no database" in section(index, "The history tells nothing").text
    (grid,) = section(index, "Lanes by night").all("table")
    assert rows(grid)[0][1].startswith("✓ passed")


def test_no_night_yet(lay: Lay, tmp_path: Path, capfd: Capture) -> None:
    world = lay()
    capfd.readouterr()
    assert world.run("page", "--out", str(tmp_path / "page")) == 0
    assert capfd.readouterr().out.strip() == str(tmp_path / "page" / "index.html")
    (page,) = pages(tmp_path / "page")
    assert "No night has been spent yet." in read(page).text
    assert "lanewright nightly" in read(page).text


def test_the_same_input_gives_the_same_bytes(
    project: Project, hostile: Places, tmp_path: Path
) -> None:
    contents = []
    for name in ("a", "b"):
        folder = making.write_page(project, hostile, tmp_path / name).folder
        files = (file for file in folder.rglob("*") if file.is_file())
        contents.append({file.relative_to(folder): file.read_bytes() for file in files})
    assert contents[0] == contents[1]
    plots = {str(each) for each in contents[0] if each.suffix == ".svg"}
    assert plots == {f"trends/{name}.svg" for name in ("conflicts", "throughput", "cold")}
