"""The machine that serves is had for a while, and restored on every way out."""

import fcntl
import json
import signal
import time
from pathlib import Path

import pytest

from tests.commands.stand_in_lane import Lay
from tests.conftest import World
from tests.nightly.nights import night, step_of, verdicts
from tests.nightly.test_resume import ON, hanging, no_process_of, stopped
from tests.process import finish, start

Capture = pytest.CaptureFixture[str]


def serving(world: World, **window: object) -> Path:
    """Give the sample lane a window whose lines write down that they ran; where they do."""
    told = world.root.parent / "told"
    lines = {what: f"echo {what} >>{told}" for what in ("drain", "stop", "restore")}
    keys = {**lines, **window}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    series = world.root / "series/sample.toml"
    series.write_text(series.read_text().replace("[engine]", f"[window]\n{text}\n[engine]"))
    return told


def said(told: Path) -> list[str]:
    return told.read_text().split() if told.exists() else []


def stopped_here(world: World) -> bool:
    """Whether something is noted as stopped."""
    return (world.places.state / "stopped.json").exists()


def test_it_is_drained_stopped_and_restored(lay: Lay) -> None:
    world = lay()
    told = serving(world)
    assert world.run("nightly") == 0
    found = night(world)
    assert said(told) == ["drain", "stop", "restore"]
    assert [verdicts(found, "sample")[name] for name in ("window", "boot", "restore")] == [
        "passed",
        "passed",
        "passed",
    ]
    assert not stopped_here(world)
    (log,) = world.places.state.glob("nights/*/*-sample-window.log")
    assert log.read_text().splitlines()[0] == f"$ echo drain >>{told}"


def test_within_it_the_model_is_loaded_as_often_as_it_says(lay: Lay) -> None:
    world = lay()
    serving(world, boots=3)
    assert world.run("nightly") == 0
    boot, smoke = (step_of(night(world), "sample", name) for name in ("boot", "smoke"))
    assert boot["command"] == ["equal", "sample", "--boots", "3"]
    assert (smoke["verdict"], boot["verdict"]) == ("left out", "passed")
    (file,) = world.places.state.glob("runs/sample/*/record.json")
    record = json.loads(file.read_text())
    assert record["boots"] == {"offline": None, "server": None}
    assert record["usage"] == "usage.parquet"
    assert record["environment"]["vllm"]
    assert [each["mode"] for each in record["equality"]["modes"]] == ["compiled"]
    assert record["equality"]["fewer"] == ["within 3 boots only compiled"]
    specs = [json.loads(each.read_text()) for each in file.parent.glob("equality/*.spec.json")]
    booted = [arm["name"] for spec in specs for arm in spec["arms"] if not arm["continues"]]
    assert sorted(booted) == ["compiled.baseline", "compiled.off", "compiled.on"]


def test_what_cannot_be_stopped_is_restored_and_not_booted(lay: Lay, capfd: Capture) -> None:
    world = lay()
    told = serving(world, stop="echo will not; exit 4")
    capfd.readouterr()
    assert world.run("nightly") == 1
    found = night(world)
    assert said(told) == ["drain", "restore"]
    window = step_of(found, "sample", "window")
    assert window["verdict"] == "failed"
    assert window["why"] == "[window] stop: ended with exit status 4: echo will not; exit 4"
    assert step_of(found, "sample", "boot")["why"] == "window: failed"
    assert verdicts(found, "sample")["restore"] == "left out"
    assert "[window] stop: ended with exit status 4" in capfd.readouterr().out


def test_where_too_little_comes_free_nothing_is_booted(lay: Lay) -> None:
    world = lay()
    told = serving(world, min_free="9000000GiB", seconds=1)
    assert world.run("nightly") == 1
    assert said(told) == ["drain", "stop", "restore"]
    assert "9000000GiB are needed" in step_of(night(world), "sample", "window")["why"]


def test_a_machine_in_use_is_not_run(lay: Lay, tmp_path: Path) -> None:
    world = lay()
    lock = tmp_path / "lock"
    told = serving(world, lock=str(lock))
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert world.run("nightly") == 6
    assert said(told) == []
    window = step_of(night(world), "sample", "window")
    assert (window["verdict"], window["why"]) == ("not run", f"in use: {lock} is locked by another")
    assert world.run("nightly") == 0


def test_what_is_not_restored_is_red_and_tried_again(lay: Lay, capfd: Capture) -> None:
    world = lay()
    told = serving(world, restore=f"test -e {world.root}/can")
    assert world.run("nightly") == 1
    assert said(told) == ["drain", "stop"]
    restore = step_of(night(world), "sample", "restore")
    assert restore["verdict"] == "failed"
    assert "was NOT restored: ended with exit status 1" in restore["why"]
    assert stopped_here(world)
    capfd.readouterr()
    assert world.run("nightly", "--restore") == 1
    assert "next: lanewright nightly --restore" in capfd.readouterr().err
    (world.root / "can").touch()
    assert world.run("nightly", "--restore") == 0
    assert not stopped_here(world)


def test_an_interrupt_restores(lay: Lay) -> None:
    world = lay(edit=hanging(ON))
    told = serving(world)
    assert stopped(world, signal.SIGTERM, "sample", pins=2) == 128 + signal.SIGTERM
    assert said(told) == ["drain", "stop", "restore"]
    assert not stopped_here(world)


def test_a_kill_leaves_a_note_by_which_it_is_restored(lay: Lay) -> None:
    world = lay(edit=hanging(ON))
    told = serving(world)
    assert stopped(world, signal.SIGKILL, "sample", pins=2) == -signal.SIGKILL
    assert said(told) == ["drain", "stop"]
    assert stopped_here(world)
    deadline = time.monotonic() + 30
    while not no_process_of(world) and time.monotonic() < deadline:
        time.sleep(0.1)
    # As systemd's unit does it, then nobody needs to.
    for _ in range(2):
        code, _, err = finish(start(world.root, "nightly", "--restore"))
        assert code == 0, err
        assert said(told) == ["drain", "stop", "restore"]
    assert world.run("nightly", "--resume", "sample") == 0
    assert said(told)[3:] == ["drain", "stop", "restore"]


@pytest.mark.parametrize(
    ("window", "told"),
    [
        ('stop = "true"', "need `restore`"),
        ('min_free = "much"', "'much' is no size"),
        ('lock = "here"', "does not begin with /"),
        ("seconds = 0", "window.seconds"),
        ("boots = 1", "window.boots"),
        ('halt = "x"', "halt"),
    ],
)
def test_a_window_that_is_none_is_refused(lay: Lay, capfd: Capture, window: str, told: str) -> None:
    world = lay()
    series = world.root / "series/sample.toml"
    series.write_text(f"{series.read_text()}\n[window]\n{window}\n")
    capfd.readouterr()
    assert world.run("build") == 1
    assert told in capfd.readouterr().err
