"""A night as a comment on a pull request: verdicts, blame, and reports folded away, within what GitHub takes."""

import json

import pytest

from lanewright.__main__ import run
from lanewright.nightly.told import markdown
from lanewright.places import Places
from tests.conftest import World
from tests.history.made import at, lay_night, lay_run, step

Capture = pytest.CaptureFixture[str]
RUN = "sample | 20261101T020000Z-01234567"
WHY = "lanewright: differs in /home/bob/x\n::error::y\n@all closes #5 <b>\nhttps://a.example/b"


def comment(capfd: Capture, word: str) -> str:
    capfd.readouterr()
    assert run(["bundle", word, "--comment"]) == 0
    return capfd.readouterr().out


@pytest.fixture
def report(world: World, capfd: Capture) -> str:
    capfd.readouterr()
    assert world.run("report", "--json") == 0
    return capfd.readouterr().out


def lay(places: Places, report: str, lanes: int = 1) -> str:
    steps = []
    names = ["sample", *(f"lane-{number}" for number in range(1, lanes))]
    for name in names:
        steps += [
            step("report", lane=name, out="01.out"),
            step("boot", "failed", lane=name, exit_code=5, why=WHY),
            step("bisect", lane=name, why="5:vllm/a.py:0123abcd: 5 (#5)\n  next: drop it"),
        ]
    steps[1] = step("boot", "failed", why=WHY, run=lay_run(places, at(1)).name)
    folder = lay_night(places, at(1), steps, lanes=names)
    (folder / "01.out").write_text(report)
    return folder.name


def test_a_night(world: World, report: str, capfd: Capture) -> None:
    told = comment(capfd, lay(world.places, report))
    assert told.startswith("## Night 20261101T020000Z\n\n| lane | | report | boot | bisect |\n")
    lines = told.splitlines()
    for line in (
        "| sample | **failed** | ✅ passed | ❌ failed | ✅ passed |",
        "**sample boot**: failed  ",
        "lanewright: differs in \\~/x  ",
        "@\u200ball closes \\#\u200b5 \\<b\\>  ",
        "https:\u200b//a.example/b  ",
        "**sample bisect**: what is to blame, by leaving out all else  ",
        "5:vllm/a.py:0123abcd: 5 (\\#\u200b5)  ",
        "<details><summary>report of lane sample</summary>",
        f"| {RUN} | release:1.1 | 0123456789ab | vLLM not known, torch not known, x86\\_64 | equal |",
    ):
        assert line in lines
    assert lines.count("</details>") == 1 + len(json.loads(report)["entries"])


def test_it_fits_and_says_what_does_not(world: World, report: str, capfd: Capture) -> None:
    told = comment(capfd, lay(world.places, report, lanes=90))
    assert 50_000 < len(told.encode()) <= 65_536
    left_out = told[told.index("_Left out") :]
    whole = left_out.count("the report of lane") - left_out.count("parts of the report")
    assert told.count("<details><summary>report of lane") + whole == 90
    assert told.count("<details") == told.count("</details>")
    assert "_Left out, for want of room: " in told
    assert "the report of lane lane-89: the bundle has it._" in told


def test_a_whole_night_that_is_too_long_for_a_jobs_page(world: World, report: str) -> None:
    lanes = [f"lane-{number}" for number in range(400)]
    steps = [step("report", lane=lane, out="01.out", why="x" * 3000) for lane in lanes]
    folder = lay_night(world.places, at(1), steps, lanes=lanes)
    (folder / "01.out").write_text(report)
    from lanewright.nightly.night import read_night  # noqa: PLC0415

    told = markdown(read_night(folder), folder)
    assert len(told.encode()) <= 1_000_000
    assert "more lines had no room: `lanewright bundle 20261101T020000Z` has it" in told


def test_a_run(world: World, capfd: Capture) -> None:
    lay_run(world.places, at(1))
    told = comment(capfd, "sample")
    assert told.startswith("## Lane sample, run 20261101T020000Z-01234567\n")
    assert "| equality | equal |" in told


def test_on_github_nothing_of_it_is_a_command(
    world: World, report: str, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = lay(world.places, report)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lines = comment(capfd, name).splitlines()
    assert "\\::error::y  " in lines
    assert not [line for line in lines if line.lstrip().startswith("::")]


def test_it_writes_no_archive(capfd: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["bundle", "sample", "--comment", "--out", "a.tar.gz"])
    assert ended.value.code == 2
    assert "`bundle --comment` writes no archive" in capfd.readouterr().err
