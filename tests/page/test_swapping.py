"""A page is whole or not there, and replaces nothing but a page."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lanewright.__main__ import run
from lanewright.errors import LanewrightError
from lanewright.history.taking_in import take_in
from lanewright.page import swapping
from lanewright.page.making import write_page
from lanewright.page.swapping import MARKER, replacing
from lanewright.places import Places
from lanewright.project import Project
from tests.killing import kills
from tests.page.hostile import LANES, lay_night

Capture = pytest.CaptureFixture[str]


def content(folder: Path) -> dict[str, bytes]:
    return {
        f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*") if f.is_file()
    }


def test_killed_at_any_step_the_old_or_the_new_is_there(
    project: Project, places: Places, tmp_path: Path
) -> None:
    out = tmp_path / "site" / "page"
    night = lay_night(places, 9, {LANES[1]: {"boot": "failed", "bisect": "passed"}}) / "night.json"
    take_in(places)
    text = night.read_text()
    wholes = []
    for lanewright in ("0.1.0", "0.1.1"):
        night.write_text(text.replace('"lanewright": "0.1.0"', f'"lanewright": "{lanewright}"'))
        write_page(project, places, out)
        wholes.append(content(out))
    old, new = wholes
    assert old != new

    def prepare() -> None:
        night.write_text(text)
        write_page(project, places, out)
        night.write_text(text.replace('"lanewright": "0.1.0"', '"lanewright": "0.1.1"'))

    argv = ["-C", str(project.root), "page", "--out", str(out)]
    env = {name: os.environ[name] for name in ("LANEWRIGHT_STATE", "LANEWRIGHT_STORE")}
    seen = []
    for killed in kills(argv, tmp_path, env, prepare, every=7):
        seen.append(content(out))
        assert seen[-1] in (old, new), killed
    assert old in seen
    write_page(project, places, out)
    assert content(out) == new
    assert [each.name for each in out.parent.iterdir()] == ["page"]


@pytest.mark.parametrize("exchanges", [True, False])
def test_an_earlier_page_goes_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exchanges: bool
) -> None:
    if not exchanges:
        monkeypatch.setattr(swapping, "RENAME_EXCHANGE", 2**20)
    for name in ("a", "b"):
        with replacing(tmp_path / "page") as folder:
            (folder / name).touch()
    assert set(content(tmp_path / "page")) == {MARKER, "b"}
    assert [each.name for each in tmp_path.iterdir()] == ["page"]


@pytest.mark.parametrize("exchanges", [True, False])
def test_of_many_at_once_one_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exchanges: bool
) -> None:
    if not exchanges:
        monkeypatch.setattr(swapping, "RENAME_EXCHANGE", 2**20)

    def write(number: int) -> None:
        with replacing(tmp_path / "page") as folder:
            for name in ("a", "b"):
                (folder / name).write_text(str(number))

    with ThreadPoolExecutor(8) as threads:
        for made in [threads.submit(write, number) for number in range(64)]:
            made.result()
    left = content(tmp_path / "page")
    assert set(left) == {MARKER, "a", "b"}
    assert left["a"] == left["b"]
    assert [each.name for each in tmp_path.iterdir()] == ["page"]


def test_one_that_comes_between_does_not_keep_the_later_out(tmp_path: Path) -> None:
    page = tmp_path / "page"
    with replacing(page) as later:
        (later / "later").touch()
        with replacing(page) as first:
            (first / "first").touch()
        assert set(content(page)) == {MARKER, "first"}
    assert set(content(page)) == {MARKER, "later"}


def test_what_fails_leaves_the_old_one(tmp_path: Path) -> None:
    with replacing(tmp_path / "page") as folder:
        (folder / "a").touch()

    def fails() -> None:
        with replacing(tmp_path / "page") as folder:
            (folder / "b").touch()
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        fails()
    assert set(content(tmp_path / "page")) == {MARKER, "a"}


def test_a_link_to_a_page_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "page")
    for _ in range(2):
        with replacing(tmp_path / "link"):
            pass
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "page" / MARKER).is_file()


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    with replacing(tmp_path / "page"):
        pass
    assert set(content(tmp_path / "page")) == {MARKER}


@pytest.mark.parametrize("what", ["file", "folder", "linked marker", "marker that is a folder"])
def test_nothing_else_is_replaced(
    project: Project, hostile: Places, tmp_path: Path, what: str, capfd: Capture
) -> None:
    del project, hostile
    out = tmp_path / "out"
    if what == "file":
        out.write_text("mine")
    else:
        out.mkdir()
        (out / "mine").touch()
    if what == "linked marker":
        (tmp_path / "marker").touch()
        (out / MARKER).symlink_to(tmp_path / "marker")
    if what == "marker that is a folder":
        (out / MARKER).mkdir()
    assert run(["-C", str(tmp_path / "bare"), "page", "--out", str(out)]) == 1
    err = capfd.readouterr().err
    assert str(out) in err
    assert "next: lanewright page --out DIR" in err
    assert out.is_file() or (out / "mine").exists()


def test_what_came_there_meanwhile_stays(tmp_path: Path) -> None:
    def races() -> None:
        with replacing(tmp_path / "page"):
            (tmp_path / "page").mkdir()
            (tmp_path / "page" / "mine").touch()

    with pytest.raises(LanewrightError, match="no page"):
        races()
    assert set(content(tmp_path / "page")) == {"mine"}
