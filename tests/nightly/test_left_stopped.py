"""What a window stopped starts again, whatever comes between: signals, kills, and a broken project."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from lanewright.nightly.night import Night, write_night
from tests.nightly.nights import add_lane, folders, night, step_of, verdicts
from tests.nightly.steps import Quick, spent
from tests.nightly.test_window import said, serving, stopped_here
from tests.process import finish

Capture = pytest.CaptureFixture[str]
# What a lane with a window is booted by.
BOOTING = "import time; Path(root, 'booting').touch(); time.sleep(60)"
AGAIN = "next: lanewright nightly --restore"


def until(seen: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    """Wait for something that a night does."""
    deadline = time.monotonic() + 60
    while not seen():
        assert process.poll() is None, finish(process)
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_next_window_stops_nothing_while_one_is_not_restored(quick: Quick) -> None:
    world = quick()
    told = serving(world, restore=f"test -e {world.root}/can")
    add_lane(world, "second", f"{told}", f"{told}.2")
    assert world.run("nightly", "sample", "second") == 1
    assert said(told) == ["drain", "stop"]
    assert said(Path(f"{told}.2")) == []
    window = step_of(night(world), "second", "window")
    assert window["verdict"] == "failed"
    assert window["why"].startswith("lane sample: what serves was NOT restored: ended with")
    assert verdicts(night(world), "second")["boot"] == "left out"
    assert json.loads((world.places.state / "stopped.json").read_text())["lane"] == "sample"
    (world.root / "can").touch()
    assert world.run("nightly", "second") == 0
    assert not stopped_here(world)
    assert said(Path(f"{told}.2")) == ["drain", "stop"]


def test_a_stop_that_takes_too_long_stops_nothing_behind_the_restore(quick: Quick) -> None:
    world = quick()
    told = world.root.parent / "told"
    late = f"echo stop >>{told}; sleep 2; echo late >>{told}"
    serving(world, stop=f"({late}) & wait", seconds=1)
    assert world.run("nightly") == 1
    time.sleep(1.5)
    assert said(told) == ["drain", "stop", "restore"]


def test_a_stop_ends_with_a_night_that_is_killed(quick: Quick) -> None:
    world = quick()
    told = world.root.parent / "told"
    serving(world, stop=f"echo stop >>{told}; sleep 2; echo late >>{told}")
    process = spent(world)
    until(lambda: "stop" in said(told), process)
    process.kill()
    assert finish(process)[0] == -signal.SIGKILL
    code, _, err = finish(spent(world, "--restore"))
    assert code == 0, err
    time.sleep(2)
    assert said(told) == ["drain", "stop", "restore"]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_restores_and_no_other_cuts_that(quick: Quick, number: signal.Signals) -> None:
    world = quick(equal=BOOTING)
    told = world.root.parent / "told"
    serving(world, restore=f"echo restoring >>{told}; sleep 1; echo restore >>{told}")
    process = spent(world)
    until((world.root / "booting").exists, process)
    process.send_signal(number)
    until(lambda: "restoring" in said(told), process)
    for another in (signal.SIGTERM, signal.SIGINT, number):
        process.send_signal(another)
    code, _, _ = finish(process)
    assert code == (130 if number == signal.SIGINT else 128 + number)
    assert said(told) == ["drain", "stop", "restoring", "restore"]
    assert not stopped_here(world)


def test_nohup_is_heeded(quick: Quick) -> None:
    world = quick(boot="import time; Path(root, 'booting').touch(); time.sleep(1)")
    process = spent(world, nohup=True)
    until((world.root / "booting").exists, process)
    process.send_signal(signal.SIGHUP)
    code, _, err = finish(process)
    assert code == 0, err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_restore_that_fails_behind_a_signal_is_the_last_word(
    quick: Quick, number: signal.Signals
) -> None:
    world = quick(equal=BOOTING)
    told = world.root.parent / "told"
    serving(world, restore=f"echo restoring >>{told}; sleep 1; exit 3")
    process = spent(world)
    until((world.root / "booting").exists, process)
    process.send_signal(number)
    until(lambda: "restoring" in said(told), process)
    process.send_signal(number)
    code, _, err = finish(process)
    assert code == 1
    assert "NOT restored: ended with exit status 3: echo restoring" in err.splitlines()[-2]
    assert err.splitlines()[-1].strip() == AGAIN


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_a_restore_fails_says_so_last(quick: Quick, number: signal.Signals) -> None:
    world = quick()
    told = world.root.parent / "told"
    serving(world, restore=f"echo restoring >>{told}; sleep 1; exit 3")
    process = spent(world)
    until(lambda: "restoring" in said(told), process)
    process.send_signal(number)
    code, _, err = finish(process)
    assert code == (130 if number == signal.SIGINT else 128 + number)
    assert "NOT restored" in err.splitlines()[-2]
    assert err.splitlines()[-1].strip() == AGAIN


def test_a_restore_without_a_project(quick: Quick, capfd: Capture) -> None:
    """Neither a broken upstream.toml nor a folder that is gone keeps it from being tried."""
    world = quick()
    told = world.root.parent / "told"
    world.places.state.mkdir()
    note = {"lane": "sample", "root": f"{world.root}/gone", "seconds": 60}
    (world.root / "upstream.toml").write_text("broken")
    for line, code in ((f"echo restore >>{told}; exit 3", 1), (f"echo restore >>{told}", 0)):
        (world.places.state / "stopped.json").write_text(json.dumps({**note, "restore": line}))
        assert world.run("nightly", "--restore") == code
        assert (f"NOT restored: ended with exit status 3: {line}" in capfd.readouterr().err) == (
            code == 1
        )
    assert said(told) == ["restore", "restore"]
    assert not stopped_here(world)


@pytest.mark.parametrize("content", ["", '{"lane": 1}', None])
def test_a_note_that_tells_nothing_is_told(
    quick: Quick, capfd: Capture, content: str | None
) -> None:
    world = quick()
    world.places.state.mkdir()
    note = world.places.state / "stopped.json"
    if content is None:
        os.mkfifo(note)
    else:
        note.write_text(content)
    assert world.run("nightly", "--restore") == 1
    assert f"what serves was NOT restored: {note} does not tell how: " in capfd.readouterr().err


def test_a_full_disk_keeps_nothing_stopped(quick: Quick, capfd: Capture) -> None:
    world = quick()
    told = world.root.parent / "told"
    (world.places.state / "nights").mkdir(parents=True)
    (world.places.state / "nights/restore.log").symlink_to("/dev/full")
    note = {"lane": "sample", "root": str(world.root), "seconds": 60}
    line = f"echo a; echo restore >>{told}"
    (world.places.state / "stopped.json").write_text(json.dumps({**note, "restore": line}))
    assert world.run("nightly", "--restore") == 0
    assert said(told) == ["restore"]
    assert "cannot be written" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("left", "lines"), [(("restore",), []), (("boot", "bisect", "restore"), ["drain", "stop"])]
)
def test_a_window_is_opened_again_only_for_what_needs_it(
    quick: Quick, left: tuple[str, ...], lines: list[str]
) -> None:
    world = quick()
    told = serving(world)
    assert world.run("nightly") == 0
    told.unlink()
    (folder,) = folders(world)
    _interrupt(folder, left)
    assert world.run("nightly", "--resume") == 0
    assert said(told) == [*lines, *(["restore"] if lines else [])]
    assert set(verdicts(night(world), "sample").values()) == {"passed", "left out"}


def _interrupt(folder: Path, left: tuple[str, ...]) -> None:
    """Have a night be one that was killed before some of its steps."""
    found = json.loads((folder / "night.json").read_text())
    for step in found["steps"]:
        if step["name"] in left:
            step |= {"verdict": "pending", "exit_code": None, "why": ""}
    write_night(folder, msgspec.convert({**found, "finished": None}, Night))
