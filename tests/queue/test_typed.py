"""Commands that are printed to be typed name files as a shell takes them."""

import shlex
from pathlib import Path

import pytest

from lanewright.__main__ import run
from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

PATH = "vllm/the rows; of $it.py"
BASE = b"".join(b"a%d = 1\n" % n for n in range(20))
ADDED = b"def pool_rows(rows: int, limit: int) -> int:\n    return max(rows, limit)\n"
OURS = BASE + ADDED.replace(b"max", b"min")
THEIRS = BASE + ADDED


def typed(said: str, mark: str) -> list[str]:
    """The words of the command that stands behind a mark."""
    [line] = [line for line in said.splitlines() if mark in line]
    return shlex.split(line.partition(mark)[2])


@pytest.fixture
def edited(carrying: Carrying) -> Clash:
    return clash(carrying, {PATH: BASE}, {PATH: OURS}, {PATH: THEIRS})


def test_what_may_have_landed_is_recorded_by_what_is_told(
    edited: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    world = edited.world
    capfd.readouterr()
    assert world.run("rebase", "--to", "main") == 3
    rebase = typed("".join(capfd.readouterr()), "is that it? ")
    assert world.run("report") == 3
    report = typed(capfd.readouterr().out, "or: ")
    assert report == rebase
    assert report[0] == "lanewright"
    assert world.run(*report[1:]) == 0
    assert edited.outcomes() == {"landed changed"}


def test_what_a_fix_makes_is_dropped_by_what_is_told(
    edited: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    world = edited.world
    settled = BASE + ADDED.replace(b"max", b"sorted")
    edited.settle({PATH: settled})
    edited.built()
    edited.upstream({PATH: settled})
    assert world.run("rebase", "--to", "main") == 0
    capfd.readouterr()
    assert world.run("report") == 0
    assert typed(capfd.readouterr().out, "next: ")[1:] == ["drop", f"5:{PATH}"]


def test_a_fix_of_another_name_is_moved_by_what_is_told(
    edited: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    edited.settle({PATH: THEIRS})
    [fix] = edited.fixes()
    moved = fix.rename(fix.with_name("a b.fix"))
    capfd.readouterr()
    assert edited.world.run("build") == 1
    assert typed(capfd.readouterr().err, "next: ") == ["mv", str(moved), str(fix)]


def test_a_damaged_file_is_removed_by_what_is_told(
    edited: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    world = edited.world
    root = world.root.rename(world.root.with_name("a project"))
    damaged = root / ".lanewright/rebase.json"
    damaged.write_bytes(b"{")
    capfd.readouterr()
    assert run(["-C", str(root), "status"]) == 1
    told = typed(capfd.readouterr().err, "next: ")
    assert [told[0], *map(Path, told[1:])] == ["rm", damaged]
