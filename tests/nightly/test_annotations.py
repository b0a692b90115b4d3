"""On GitHub a night shows what did not pass where it is to be mended, and nobody else's words are commands."""

import json
from pathlib import Path

import pytest

from lanewright.nightly.annotating import annotations
from lanewright.project import Project
from tests.commands.stand_in_lane import Lay
from tests.conftest import World
from tests.history.made import at, lay_night, step
from tests.history.made import night as made_night
from tests.nightly.nights import add_lane, night, step_of
from tests.nightly.steps import Quick, asked_for
from tests.test_workflow import read_by_a_runner

Capture = pytest.CaptureFixture[str]
SAYS = """\
import sys
print("::error::forged")
print("talk\\n::error::forged\\n  ::stop-commands::x\\n##[error]forged\\r::error::x", file=sys.stderr)
print("lanewright: first\\n::error::forged\\n##[error]forged", file=sys.stderr)
sys.exit(1)
"""


@pytest.fixture(autouse=True)
def _on_github(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page.md"))


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_no_step_and_no_hook_forges_a_command(
    quick: Quick, capfd: Capture, words: tuple[str, ...]
) -> None:
    world = quick(boot=SAYS)
    asked_for(world, notify="echo '::error::hook'; echo '##[error]hook' >&2")
    assert world.run("nightly", *words) == 1
    out, err = capfd.readouterr()
    assert read_by_a_runner(out) == []
    (ours,) = read_by_a_runner(err)
    assert ours == (
        "::error file=series/sample.toml,line=1,title=sample boot%3A failed"
        "::first%0A::error::forged%0A##[error]forged"
    )
    assert "\\::error::hook" in err.splitlines()
    if words:
        assert step_of(json.loads(out), "sample", "boot")["why"].endswith("##[error]forged")


def test_elsewhere_there_are_none(
    quick: Quick, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    world = quick(boot="sys.exit(1)")
    assert world.run("nightly") == 1
    assert not [line for line in capfd.readouterr().err.splitlines() if line.startswith("::")]


def shown(world: World, capfd: Capture, *words: str, code: int) -> list[str]:
    capfd.readouterr()
    assert world.run("nightly", *words) == code
    return read_by_a_runner(capfd.readouterr().err)


def test_a_wrong_hunk_is_shown_in_its_patch(lay: Lay, capfd: Capture) -> None:
    world = lay(edit=("vllm/sampler.py", "    token = state %", "    token = (state + on) %"))
    (line,) = [line for line in shown(world, capfd, code=5) if line.startswith("::error ")]
    patch = (world.root / "patches/own/hook.patch").read_text().splitlines()
    begins = patch.index("diff --git a/vllm/sampler.py b/vllm/sampler.py")
    at = next(n for n, text in enumerate(patch, 1) if n > begins and text.startswith("@@ "))
    head, _, said = line[2:].partition("::")
    part = step_of(night(world), "sample", "bisect")["why"].partition(": ")[0]
    named = part.replace(":", "%3A")
    title = f"title=sample boot%3A failed%2C by {named}"
    assert head == f"error file=patches/own/hook.patch,line={at},{title}"
    assert "equality with its baseline: differs" in said


def test_an_entry_that_cannot_be_read_is_shown_in_the_series(lay: Lay, capfd: Capture) -> None:
    world = lay()
    add_lane(world, "broken", 'patch = "own/hook.patch"', 'patch = "own/none.patch"')
    lines = shown(world, capfd, "broken", code=1)
    series = (world.root / "series/broken.toml").read_text().splitlines()
    at = series.index("[[entry]]") + 1
    failed = [line for line in lines if "title=broken build%3A failed" in line]
    assert [line.partition(",title=")[0] for line in failed] == [
        f"::error file=series/broken.toml,line={at}"
    ]


def test_a_conflict_is_shown_once_in_the_patch(world: World, capfd: Capture) -> None:
    """The report and the build find the same."""
    world.edit("series/sample.toml", "release:1.1", "release:1.2")
    lines = shown(world, capfd, code=3)
    patch = (world.root / "patches/own/hook.patch").read_text().splitlines()
    # The second hunk; the first merges.
    at = next(number for number, text in enumerate(patch, 1) if text.startswith("@@ -21,5 "))
    (line,) = [line for line in lines if "conflicts" in line]
    head = f"::error file=patches/own/hook.patch,line={at},title=sample report%2C build%3A hook"
    assert line.startswith(head)


def test_hardware_drift_and_no_network_are_no_errors(world: World) -> None:
    steps = [
        step("fetch", "left out", exit_code=1, why="no network"),
        step("drift", "drift", exit_code=4),
        step("window", "not run", exit_code=6, why="no GPU"),
        step("boot", "left out", exit_code=None, why="window: not run"),
    ]
    folder = lay_night(world.places, at(1), steps)
    lines = annotations(Project.find(world.root), made_night(at(1), steps), folder)
    where = "file=series/sample.toml,line=1,title=sample"
    assert lines == [
        f"::warning {where} drift%3A drift::sample drift: drift",
        f"::warning {where} window%3A not run::no GPU",
        f"::notice {where} fetch%3A left out::no network",
    ]


def test_ten_of_a_kind_are_shown_and_the_others_counted(world: World) -> None:
    names = [f"lane-{number}" for number in range(12)]
    steps = [step("boot", "failed", lane=name, why=f"why {name}") for name in names]
    found = made_night(at(1), steps, lanes=names)
    folder = lay_night(world.places, at(1), steps, lanes=names)
    lines = annotations(Project.find(world.root), found, folder)
    assert len(lines) == 10
    assert lines[8].endswith("::why lane-8")
    assert lines[9] == (
        "::error file=series/lane-9.toml,line=1,title=3 more::"
        "lane-9 boot: failed%0Alane-10 boot: failed%0Alane-11 boot: failed"
    )


def test_a_project_below_the_repository(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    steps = [step("boot", "failed", why="x")]
    folder = lay_night(world.places, at(1), steps)
    (line,) = annotations(Project.find(world.root), made_night(at(1), steps), folder)
    assert line.startswith("::error file=project/series/sample.toml,line=1,")
