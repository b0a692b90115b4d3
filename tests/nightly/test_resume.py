"""A night that is killed, and gone on with: it comes to what an undisturbed one does."""

import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands.stand_in_lane import Lay
from tests.conftest import World
from tests.nightly.nights import add_lane, folders, night, step_of
from tests.process import finish, start

Capture = pytest.CaptureFixture[str]
STOP = "stop"
ON = 'getattr(arguments, "moe_usage_counter", False)'


def hanging(on: str) -> tuple[str, str, str]:
    """An engine of such arguments does not come up while the model's folder holds that file."""
    there = f'os.path.exists(f"{{arguments.model}}/{STOP}")'
    return "vllm/engine.py", 'if "hangs" in self.lies:', f"if {on} and {there}:"


# An eager one with the feature on: the boot before the comparison is none.
EDIT = hanging(f"arguments.enforce_eager and {ON}")
LANES = ["sample", "second"]


def stopped(world: World, number: int, *lanes: str, pins: int = 4) -> int:
    """Send a night a signal while a comparison of its first lane is half done; its exit code.

    Of the pin all arms are done, as many as ``pins``.
    """
    (model,) = (each for each in world.places.models.iterdir() if each.is_dir())
    (model / STOP).touch()
    process = start(world.root, "nightly", *(lanes or LANES))
    logs = world.places.state.glob
    begun = {*logs("runs/*/*/equality/pin.*.finished.json")}
    while (
        not any("told to hang" in log.read_text() for log in logs("runs/*/*/equality/lane.log"))
        or len({*logs("runs/*/*/equality/pin.*.finished.json")} - begun) < pins
    ):
        assert process.poll() is None, finish(process)
        time.sleep(0.05)
    process.send_signal(number)
    code, _, _ = finish(process)
    (model / STOP).unlink()
    return code


def lasting(found: dict[str, Any]) -> dict[str, Any]:
    """A night without what differs between any two: times, and where it ran."""
    steps = [
        {name: value for name, value in step.items() if name not in ("started", "seconds", "run")}
        for step in found["steps"]
    ]
    return {
        name: value for name, value in found.items() if name not in ("name", "started", "finished")
    } | {"steps": steps}


def no_process_of(world: World) -> bool:
    """Whether nothing that the night started still runs; what was killed takes a moment to end."""
    return not any(
        str(world.root).encode() in file.read_bytes()
        for file in Path("/proc").glob("[0-9]*/cmdline")
        if file.exists()
    )


def test_it_comes_to_what_an_undisturbed_one_does(lay: Lay, capfd: Capture) -> None:
    world = lay(edit=EDIT)
    add_lane(world, "second")
    assert world.run("nightly", *LANES) == 0
    undisturbed = night(world)
    assert stopped(world, signal.SIGKILL) == -9
    deadline = time.monotonic() + 30
    while not no_process_of(world) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert no_process_of(world)
    before = night(world)
    assert before["finished"] is None
    assert step_of(before, "sample", "boot")["verdict"] == "pending"
    capfd.readouterr()
    assert world.run("nightly", "--resume", *LANES) == 0
    talk = capfd.readouterr().err
    assert "goes on behind" in talk
    assert "resuming: 5 of 8 arms are taken" in talk
    resumed = night(world)
    assert lasting(resumed) == lasting(undisturbed)
    assert step_of(resumed, "sample", "build") == step_of(before, "sample", "build")
    assert len(folders(world)) == 2


def test_what_has_changed_since_is_not_gone_on_with(lay: Lay, capfd: Capture) -> None:
    world = lay(edit=EDIT)
    add_lane(world, "second")
    assert stopped(world, signal.SIGINT) == 130
    before = night(world)
    capfd.readouterr()
    assert world.run("nightly", "--resume", "sample") == 1
    assert "was of sample, second" in capfd.readouterr().err
    world.edit("series/sample.toml", "stand-in", "other")
    assert world.run("nightly", "--resume", *LANES) == 1
    err = capfd.readouterr().err
    assert "the project is not what it was" in err
    assert "`lanewright nightly sample second` begins another" in err
    assert night(world) == before


def test_there_is_nothing_to_resume(lay: Lay, capfd: Capture) -> None:
    world = lay()
    capfd.readouterr()
    assert world.run("nightly", "--resume") == 0
    assert "nothing to resume" in capfd.readouterr().err
    assert len(folders(world)) == 1


def test_two_at_once_spend_one_night_each(lay: Lay) -> None:
    world = lay()
    processes = [start(world.root, "nightly") for _ in range(2)]
    ended = [finish(process) for process in processes]
    assert [code for code, _, _ in ended] == [0, 0]
    assert sum("waiting for another lanewright that spends a night" in e for _, _, e in ended) == 1
    assert len(folders(world)) == 2
    assert all((folder / "night.json").exists() for folder in folders(world))
