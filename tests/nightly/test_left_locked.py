"""What a killed night left stopped is not started over whoever took the machine's lock since."""

import json
import signal
from pathlib import Path

import pytest

from tests.conftest import World
from tests.nightly.locks import in_others_hands, is_free
from tests.nightly.nights import folders, night, verdicts
from tests.nightly.steps import Quick, spent
from tests.nightly.test_left_stopped import AGAIN, BOOTING, until
from tests.nightly.test_window import said, serving, stopped_here
from tests.process import finish

Capture = pytest.CaptureFixture[str]


def left(world: World, lock: Path, *, restore: str, seconds: int = 1) -> None:
    """Have a note such as a killed night leaves."""
    note = {"lane": "sample", "restore": restore, "root": str(world.root), "seconds": seconds}
    world.places.state.mkdir()
    (world.places.state / "stopped.json").write_text(json.dumps({**note, "lock": str(lock)}))


def test_it_is_not_started_over_another_who_has_the_machine(quick: Quick, capfd: Capture) -> None:
    world = quick(equal=BOOTING)
    lock = world.root.parent / "lock"
    told = serving(world, lock=str(lock), seconds=1)
    process = spent(world)
    until((world.root / "booting").exists, process)
    assert not is_free(lock)
    process.kill()
    assert finish(process)[0] == -signal.SIGKILL
    with in_others_hands(lock):
        capfd.readouterr()
        assert world.run("nightly", "--restore") == 1
        why = f"what serves was NOT restored: in use: {lock} is locked by another"
        first, second, third = capfd.readouterr().err.splitlines()
        assert first == f"waiting for another, who has {lock} locked: 1 s at most"
        assert second == f"lanewright: lane sample: {why}"
        assert third.strip() == AGAIN
        # A night stops nothing more then.
        assert world.run("nightly") == 1
        assert why in capfd.readouterr().err
    assert said(told) == ["drain", "stop"]
    assert stopped_here(world)
    assert len(folders(world)) == 1
    assert world.run("nightly", "--restore") == 0
    assert said(told) == ["drain", "stop", "restore"]
    assert not stopped_here(world)
    assert is_free(lock)


def test_it_waits_for_another_to_be_done(quick: Quick) -> None:
    world = quick()
    lock, told = world.root.parent / "lock", world.root.parent / "told"
    left(world, lock, restore=f"echo restore >>{told}", seconds=60)
    with in_others_hands(lock):
        process = spent(world, "--restore")
        assert process.stderr
        assert "60 s at most" in process.stderr.readline()
        with told.open("a") as words:
            words.write("others'\n")
    code, _, err = finish(process)
    assert code == 0, err
    assert said(told) == ["others'", "restore"]
    assert not stopped_here(world)


def test_an_interrupt_ends_the_wait(quick: Quick) -> None:
    world = quick()
    lock, told = world.root.parent / "lock", world.root.parent / "told"
    left(world, lock, restore=f"echo restore >>{told}", seconds=60)
    with in_others_hands(lock):
        process = spent(world, "--restore")
        assert process.stderr
        assert "60 s at most" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        code, _, err = finish(process)
    assert code == 130
    assert err.splitlines()[-1].strip() == AGAIN
    assert said(told) == []
    assert stopped_here(world)


def test_the_machine_is_locked_until_it_serves_again(quick: Quick) -> None:
    world = quick()
    lock, told = world.root.parent / "lock", world.root.parent / "told"
    restore = f"flock --nonblock {lock} echo free >>{told} || echo locked >>{told}"
    serving(world, lock=str(lock), restore=restore, seconds=5)
    assert world.run("nightly") == 0
    assert verdicts(night(world), "sample")["restore"] == "passed"
    assert said(told) == ["drain", "stop", "locked"]
    assert is_free(lock)


def test_a_restore_holds_the_lock_meanwhile(quick: Quick) -> None:
    world = quick()
    lock, told = world.root.parent / "lock", world.root.parent / "told"
    left(world, lock, restore=f"flock --nonblock {lock} echo free >>{told} || echo locked >>{told}")
    assert world.run("nightly", "--restore") == 0
    assert said(told) == ["locked"]
    assert is_free(lock)


def test_a_lock_that_is_gone_with_its_folder_keeps_nothing_stopped(
    quick: Quick, capfd: Capture
) -> None:
    world = quick()
    lock, told = world.root.parent / "gone/lock", world.root.parent / "told"
    left(world, lock, restore=f"echo restore >>{told}")
    capfd.readouterr()
    assert world.run("nightly", "--restore") == 0
    err = capfd.readouterr().err
    assert f"{lock} is gone and cannot be made: nobody has it locked" in err
    assert said(told) == ["restore"]


def test_a_lock_that_cannot_be_tried_does(quick: Quick, capfd: Capture) -> None:
    world = quick()
    told = world.root.parent / "told"
    told.touch()
    left(world, told / "lock", restore=f"echo restore >>{told}")
    capfd.readouterr()
    assert world.run("nightly", "--restore") == 1
    why = f"[window] lock: {told}/lock cannot be locked: Not a directory"
    err = capfd.readouterr().err
    assert f"lane sample: what serves was NOT restored: {why}" in err
    assert stopped_here(world)
    assert said(told) == []
