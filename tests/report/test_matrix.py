"""What two entries have in common: claims, lines, files."""

import random

import pytest

from lanewright.queue.cause.touching import Meeting, Touch, meetings
from lanewright.report.grid import LEGEND
from tests.report.conftest import Told
from tests.report.reading import Data
from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

PATH, OTHER = "vllm/engine.py", "vllm/other.py"
TEXT = b"".join(b"def f_%d():\n    return %d\n\n\n" % (n, n) for n in range(9))
UPSTREAM = b"import os\n\n\n" + TEXT


def edited(number: int, value: int) -> bytes:
    return TEXT.replace(b"return %d\n" % number, b"return %d\n" % value)


@pytest.fixture
def five(carrying: Carrying) -> Clash:
    both = {PATH: TEXT, OTHER: TEXT}
    return clash(carrying, both, {PATH: UPSTREAM}, {PATH: edited(2, 22)}, code=0)


def shared_files(report: Data) -> list[Data]:
    return [shared for cell in report["matrix"] for shared in cell["files"]]


@pytest.mark.parametrize(
    ("theirs", "meet"),
    [
        (edited(2, 3), True),
        (edited(7, 3), False),
        (TEXT.replace(b"    return 2\n", b"    return 2\n    # below\n"), True),
        (TEXT.replace(b"def f_2", b"# above\ndef f_2"), False),
        (edited(2, 22).replace(b"return 7", b"return 77"), False),
    ],
    ids=["the line", "far away", "right below", "one line between", "the same edit"],
)
def test_lines_of_two_entries_meet_where_a_merge_would_conflict(
    five: Clash, told: Told, theirs: bytes, *, meet: bool
) -> None:
    five.pull(6, {PATH: theirs})
    world = five.world
    assert world.run("add", "6") == (3 if meet else 0)
    report = told(world, code=3 if meet else 0)
    [shared] = shared_files(report)
    assert shared["path"] == PATH
    assert bool(shared.get("meetings")) == meet


def test_watched_ones_are_held_against_the_carried(
    five: Clash, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    five.pull(6, {PATH: edited(2, 3), OTHER: edited(1, 3)})
    five.pull(7, {OTHER: edited(5, 3)})
    series = five.world.series
    series.write_text(series.read_text().replace("\n[model]", "watch = [6, 7]\n\n[model]"))
    assert five.world.run("fetch") == 0
    report = told(five.world, code=0)
    pairs = [(cell["one"], cell["other"]) for cell in report["matrix"]]
    assert pairs == [("5", "6"), ("6", "7")]
    assert five.world.run("report") == 0
    said = capfd.readouterr().out
    grid = said.partition("what entries have in common\n")[2].partition(f"  {LEGEND}")[0]
    assert [line.split() for line in grid.splitlines()] == [
        ["#5", "#6", "#7"],
        ["#5", "L", "."],
        ["#6", "L", "f"],
        ["#7", ".", "f"],
    ]
    assert f"    {OTHER}: apart\n" in said


def test_an_overlay_file_in_the_place_of_a_pull_requests(five: Clash, told: Told) -> None:
    new = "vllm/brought.py"
    five.pull(6, {new: b"x = 1\n"})
    series = five.world.series
    series.write_text(
        series.read_text().replace("\n[model]", "watch = [6]\n\n[model]")
        + '\n[[entry]]\noverlay = "tree"\n'
    )
    place = five.world.root / "overlay/tree" / new
    place.parent.mkdir(parents=True)
    place.write_bytes(b"x = 2\n")
    assert five.world.run("fetch") == 0
    [shared] = shared_files(told(five.world, code=0))
    assert shared["path"] == new
    assert shared["meetings"]


def test_meetings_are_those_that_a_look_at_every_pair_finds() -> None:
    chance = random.Random(7)  # noqa: S311 - only to make examples
    for _ in range(200):
        sides = [
            sorted(
                (
                    Touch(f"{side}{n}", at, at + chance.randrange(4))
                    for n in range(chance.randrange(8))
                    for at in [chance.randrange(30)]
                ),
                key=lambda touch: touch.start,
            )
            for side in "ab"
        ]
        one, other = ({PATH: side} for side in sides)
        wanted = {
            Meeting(PATH, a.unit, b.unit)
            for a in sides[0]
            for b in sides[1]
            if a.start <= b.end and b.start <= a.end
        }
        assert set(meetings(one, other)) == wanted


def claiming(world: Carrying, number: int) -> None:
    """Say of a pull request that it takes the experts' residency for itself."""
    folder = world.root / f"patches/{number}"
    folder.mkdir(exist_ok=True)
    (folder / "pr.toml").write_text(
        f'number = {number}\nbrings = "a cache"\n'
        '[claims]\n"experts.residency" = []\n'
        '[sources]\nbrings = "a test"\nclaims = "a test"\n'
    )


def test_a_claim_that_a_watched_one_makes_too(
    five: Clash, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    world = five.world
    five.pull(6, {OTHER: edited(1, 3)})
    for number in (5, 6):
        claiming(world, number)
    world.series.write_text(world.series.read_text().replace("\n[model]", "watch = [6]\n\n[model]"))
    assert world.run("fetch") == 0
    report = told(world, code=0)
    assert report["clashes"] == [{"claim": "experts.residency", "entries": ["5", "6"]}]
    assert report["matrix"] == [{"one": "5", "other": "6", "claims": ["experts.residency"]}]
    assert world.run("report") == 0
    line = "  claims experts.residency, and so does 6: they exclude each other\n"
    assert line in capfd.readouterr().out


def test_two_carried_that_claim_the_same_are_told_in_full_and_refused(
    five: Clash, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    world = five.world
    five.pull(6, {OTHER: edited(1, 3)})
    assert world.run("add", "6") == 0
    for number in (5, 6):
        claiming(world, number)
    report = told(world, code=1)
    assert [entry["verdict"] for entry in report["entries"]] == ["merged", "clean"]
    assert report["clashes"] == [{"claim": "experts.residency", "entries": ["5", "6"]}]
    assert world.run("report") == 1
    captured = capfd.readouterr()
    assert "  #6  C" in captured.out
    assert (
        "(6) claims 'experts.residency', and so does series/sample.toml: entry 1 (5)"
        in captured.err
    )
    assert world.run("build") == 1
