"""``lanewright history``, as people and programs read it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from lanewright.history.past import PastStep
from lanewright.history.verdict import verdict_of
from lanewright.places import Places
from tests.conftest import World
from tests.history.made import FAILED, at, equality, lay_arm, lay_night, lay_run, record, step

Capture = pytest.CaptureFixture[str]


def told(verdict: str) -> PastStep:
    return PastStep(
        name=f"s-{verdict}",
        command=[],
        lane="sample",
        verdict=verdict,
        exit_code=None,
        started=None,
        seconds=None,
        why="",
        run=None,
    )


@pytest.mark.parametrize(
    ("verdicts", "found"),
    [
        ([], ("", "")),
        (["passed", "passed"], ("passed", "")),
        (["passed", "drift", "left out"], ("passed", "")),
        (["passed", "not run"], ("not run", "s-not run")),
        (["not run", "pending", "passed"], ("pending", "s-pending")),
        (["not run", "conflicts", "left out"], ("conflicts", "s-conflicts")),
        (["failed", "conflicts", "passed"], ("failed", "s-failed")),
        (["drift", "left out"], ("drift", "")),
        (["left out"], ("left out", "")),
    ],
)
def test_the_verdict_of_a_lane(verdicts: list[str], found: tuple[str, str]) -> None:
    assert verdict_of([told(verdict) for verdict in verdicts]) == found


@pytest.fixture
def two_nights(places: Places) -> Places:
    """One that passed, and one in which the lane differs from its baseline."""
    first = lay_run(places, at(1))
    lay_arm(first, "pin.eager.baseline", 4.0)
    lay_arm(first, "lane.eager.on", 5.0)
    steps = [
        step("fetch", lane=None),
        step("drift", "drift", exit_code=4),
        step("boot", run=first.name),
        step("boot", "not run", lane="gb300", exit_code=6, why="no GPU\nat all"),
    ]
    lay_night(places, at(1), steps, lanes=["sample", "gb300"])
    changed = record(at(2))
    changed["entries"][0]["hunks"][0]["outcome"] = "landed"
    changed["entries"][1]["name"] = "twobank"
    second = lay_run(
        places,
        at(2),
        entries=changed["entries"],
        pin={**changed["pin"], "ref": "release:1.2"},
        equality=equality(equal=False),
        verdict="failed",
        error={"message": "it differs\nmuch", "exit_code": 5},
    )
    steps = [
        step("boot", "failed", exit_code=5, run=second.name, why="it differs"),
        step("smoke", "left out", exit_code=None, seconds=None, why="boot failed"),
    ]
    lay_night(places, at(2), steps, finished=None)
    return places


@pytest.mark.usefixtures("two_nights")
def test_the_grid_has_a_line_for_each_night_and_a_column_for_each_lane(capfd: Capture) -> None:
    assert run(["history"]) == 0
    out = capfd.readouterr().out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "night sample gb300 of all lanes"
    assert lines[2:] == [
        "20261102T020000Z, unfinished failed: boot, 1 left out - -",
        "20261101T020000Z passed, drift not run: boot passed",
    ]
    assert "\x1b" not in out


@pytest.mark.usefixtures("two_nights")
def test_fewer_nights(capfd: Capture) -> None:
    assert run(["history", "--nights", "1"]) == 0
    assert "20261101" not in capfd.readouterr().out


def test_a_lane_in_detail(two_nights: Places, capfd: Capture) -> None:
    assert run(["history", "sample"]) == 0
    out = capfd.readouterr().out
    assert "gb300" not in out
    newer, older = out.split("\nnight 20261101T020000Z: ")
    since = "since night 20261101T020000Z: "
    for line in (
        "boot: failed with 5, 2.0 s: it differs",
        "smoke: left out: boot failed",
        "run 20261102T020000Z-01234567: failed with 5: it differs",
        "equality eager: differs (self 44/44, exchanged 0/44, on 43/44 from index 7)",
        "throughput boot: offline 2.0 tokens/s, server 8.0 tokens/s",
        f"{since}verdict: passed, drift -> failed",
        f"{since}step boot: passed -> failed",
        f"{since}step drift: drift -> none",
        f"{since}pin: release:1.1 (commit 0123456789ab) -> release:1.2 (commit 0123456789ab)",
        f"{since}entry hook: 1 clean, 2 merged -> 1 clean, 1 landed, 1 merged",
        f"{since}entry bank: overlay -> none",
        f"{since}entry twobank: none -> overlay",
        f"{since}equality eager: equal -> differs",
    ):
        assert f"    {line}\n" in f"{newer}\n", line
    for line in (
        "of all lanes, fetch: passed, 2.0 s",
        "drift: drift with 4, 2.0 s",
        "proof of x in eager.on: 6 = 2 x 3",
        "throughput eager: baseline 32.0 tokens/s, on 0.800 of it",
    ):
        assert f"  {line}\n" in older, line
    assert "since" not in older
    assert two_nights.state.exists()


def test_json_is_typed_and_stable(two_nights: Places, capfd: Capture) -> None:
    assert run(["history", "--json", "--runs"]) == 0
    out = capfd.readouterr().out
    assert run(["history", "--json", "--runs"]) == 0
    assert capfd.readouterr().out == out
    history = json.loads(out)
    assert [night["name"] for night in history["nights"]] == [
        "20261102T020000Z",
        "20261101T020000Z",
    ]
    assert [each["folder"][:8] for each in history["runs"]] == ["20261102", "20261101"]
    sample, gb300 = history["nights"][1]["lanes"]
    assert (sample["verdict"], sample["drift"]) == ("passed", True)
    assert (gb300["verdict"], gb300["where"]) == ("not run", "boot")
    assert gb300["steps"][0]["exit_code"] == 6
    assert (sample["commits_behind"], sample["conflicts"]) == (None, None)
    [found] = sample["runs"]
    assert found["throughput"][-1] == {
        "mode": "eager",
        "arm": "on",
        "tokens": 128,
        "seconds": 5.0,
        "measured_in": found["folder"],
        "ratio": 0.8,
        "cores": 1,
        "word": "not counted",
        "why": "128 tokens are too few: 512 are needed",
    }
    assert found["proofs"][0]["facts"] == {"picks": 6}
    assert found["entries"][0] == {
        "name": "hook",
        "kind": "patch",
        "hunks": {"clean": 1, "merged": 2},
    }
    assert two_nights.state.exists()


def test_arms_of_two_runs_have_no_ratio(places: Places, capfd: Capture) -> None:
    earlier = {"run": "20261031T020000Z-01234567", "finished": "2026-10-31T02:10:00Z"}
    folder = lay_run(places, at(1), equality=equality(resumed={"eager.baseline": earlier}))
    lay_arm(folder, "pin.eager.baseline", 4.0)
    lay_arm(folder, "lane.eager.on", 5.0)
    lay_night(places, at(1), [step("boot", run=folder.name)])
    assert run(["history", "sample"]) == 0
    assert (
        "throughput eager: baseline 32.0 tokens/s (of run 20261031T020000Z-01234567),"
        " on 25.6 tokens/s\n"
    ) in capfd.readouterr().out


def test_a_night_without_a_run_is_compared_with_the_last_that_had_one(
    places: Places, capfd: Capture
) -> None:
    runs = {day: lay_run(places, at(day)) for day in (1, 3)}
    for day in (1, 2, 3):
        steps = [step("build"), *([step("boot", run=runs[day].name)] if day in runs else [])]
        lay_night(places, at(day), steps)
    file = runs[3] / "record.json"
    file.write_text(file.read_text().replace("release:1.1", "release:1.2"))
    assert run(["history", "sample"]) == 0
    out = capfd.readouterr().out
    assert "since night 20261102T020000Z: step boot: none -> passed" in out
    assert "since night 20261101T020000Z: pin: release:1.1" in out


def test_what_upstream_did_to_a_pull_request(places: Places, capfd: Capture) -> None:
    for day, pull in ((1, {"state": "open"}), (2, {"state": "merged", "newest": "b" * 40})):
        night = lay_night(places, at(day), [step("status", out="status.out")])
        pulls = [{"number": 7, "head": "a" * 40, **pull}]
        (night / "status.out").write_text(json.dumps([{"lane": "sample", "pulls": pulls}]))
    assert run(["history", "sample"]) == 0
    out = capfd.readouterr().out
    assert f"#7: merged carried at {'a' * 12}, upstream at {'b' * 12}\n" in out
    assert (
        f"pull request 7: open, carried, upstream at {'a' * 12}"
        f" -> merged, carried, upstream at {'b' * 12}\n"
    ) in out


def test_runs_of_no_night(places: Places, capfd: Capture) -> None:
    lay_run(places, at(1))
    lay_run(places, at(2), **FAILED)
    lay_run(places, at(3), "other")
    assert run(["history", "sample", "--runs"]) == 0
    assert capfd.readouterr().out == (
        "sample/20261102T020000Z-01234567: 2026-11-02T02:00:00Z, failed with 1: engine died\n"
        "sample/20261101T020000Z-01234567: 2026-11-01T02:00:00Z, passed, equality equal\n"
    )


def test_what_would_steer_a_terminal_is_written_out(places: Places, capfd: Capture) -> None:
    error = {"message": "\x1b[2J gone", "exit_code": 1}
    folder = lay_run(places, at(1), **{**FAILED, "error": error})
    lay_night(places, at(1), [step("boot", "failed", why="\x1b[2J\tgone", run=folder.name)])
    assert run(["history", "sample", "--runs"]) == 0
    out = capfd.readouterr().out
    assert "\x1b" not in out
    assert "failed with 1: \\x1b[2J gone" in out


def test_lanes_that_are_not_known(world: World, capfd: Capture) -> None:
    assert world.run("history", "absent") == 1
    assert "unknown lane 'absent'" in capfd.readouterr().err
    assert world.run("history", "sample") == 0
    assert "no night yet" in capfd.readouterr().err


def test_outside_a_project(
    places: Places, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lay_night(places, at(1), [step("boot")])
    assert run(["history"]) == 0
    assert run(["history", "absent"]) == 1
    assert "the history knows no lane 'absent'" in capfd.readouterr().err


@pytest.mark.parametrize("plain", [True, False])
def test_colour_is_for_a_terminal_alone(places: Places, *, plain: bool) -> None:
    lay_night(places, at(1), [step("boot", "failed")])
    head, tail = pty.openpty()
    environ: dict[str, Any] = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    environ.pop("NO_COLOR", None)
    subprocess.run(
        [sys.executable, "-m", "lanewright", "history"],
        stdout=tail,
        env={**environ, **({"NO_COLOR": "1"} if plain else {})},
        check=True,
    )
    os.close(tail)
    shown = os.read(head, 65536).decode()
    os.close(head)
    assert "failed: boot" in shown
    assert ("\x1b[31m" in shown) is not plain
