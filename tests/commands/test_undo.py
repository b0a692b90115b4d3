"""``undo``: what it says, and that a kill at any of its steps leaves all old or all new."""

import pytest

from lanewright.queue.build import build
from lanewright.transaction.journal import pending_file
from lanewright.transaction.replace import replace_together
from tests.conftest import World
from tests.killing import MOMENTS, killed_at_random, kills, restoring
from tests.transaction.half_done import snapshot

Capture = pytest.CaptureFixture[str]
Files = dict[str, bytes]


def edited(world: World) -> tuple[Files, Files]:
    """A project after an edit of several files; its files before and after."""
    before = snapshot(world.root)
    series = world.root / "series/sample.toml"
    changes = {
        series: series.read_bytes().replace(b"release:1.1", b"release:1.0"),
        world.root / "overlay/fixes/1/fix": b"a fix\n",
        world.root / "overlay/sample_package/__init__.py": None,
    }
    replace_together(world.project, changes, what="rebase to release:1.0")
    return before, snapshot(world.root)


def test_undo_names_what_it_took_back_and_the_files(world: World, capfd: Capture) -> None:
    before, after = edited(world)
    assert world.run("undo") == 0
    captured = capfd.readouterr()
    assert captured.out == (
        "series/sample.toml\noverlay/fixes/1/fix\noverlay/sample_package/__init__.py\n"
    )
    assert "taken back: rebase to release:1.0" in captured.err
    assert snapshot(world.root) == before
    assert world.run("undo") == 0
    assert snapshot(world.root) == after


def test_undo_of_nothing(world: World, capfd: Capture) -> None:
    assert world.run("undo") == 1
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "nothing to undo" in captured.err


def test_undo_after_an_edit_by_hand_names_the_file_and_the_next_command(
    world: World, capfd: Capture
) -> None:
    edited(world)
    world.edit("series/sample.toml", "A sample", "My")
    after = snapshot(world.root)
    assert world.run("undo") == 1
    talk = capfd.readouterr().err
    assert f"{world.root}/series/sample.toml is no longer as 'rebase to release:1.0' left" in talk
    assert f"next: git -C {world.root} diff -- series/sample.toml" in talk
    assert snapshot(world.root) == after


def test_undo_takes_no_lane(world: World) -> None:
    with pytest.raises(SystemExit) as ended:
        world.run("undo", "sample")
    assert ended.value.code == 2


def whole(world: World, before: Files, after: Files, capfd: Capture) -> str:
    """Which of the two a project is once a command ran in it; a last undo gives the other."""
    decided = pending_file(world.project).exists()
    capfd.readouterr()
    assert world.run("list") == 0
    assert ("finished what an earlier run" in capfd.readouterr().err) == decided
    found = snapshot(world.root)
    assert found in (before, after)
    assert world.run("undo") == 0
    assert snapshot(world.root) == (after if found == before else before)
    return "before" if found == before else "after"


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.engine_full)])
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_undo_killed_at_any_step_is_whole_at_the_next_command(
    world: World, capfd: Capture, moment: str, every: int
) -> None:
    before, after = edited(world)
    restore = restoring(world.root)
    steps, found = [], []
    for killed in kills(["undo"], world.root, {}, restore, moments=[moment], every=every):
        steps.append(killed.step)
        found.append(whole(world, before, after, capfd))
    decided = found.count("before")
    assert decided > 0
    assert found == ["after"] * (len(found) - decided) + ["before"] * decided
    if every == 1:
        assert steps[-1].endswith("/undo.json")
        assert steps[-decided - (moment == "before")].endswith("/pending.json")


@pytest.mark.parametrize("times", [2, pytest.param(10, marks=pytest.mark.engine_full)])
def test_an_undo_killed_at_random_moments_is_whole_at_the_next_command(
    world: World, capfd: Capture, times: int
) -> None:
    before, after = edited(world)
    restore = restoring(world.root)
    tries = [
        whole(world, before, after, capfd)
        for _ in killed_at_random(["undo"], world.root, {}, restore, times=times)
    ]
    assert len(tries) == times


@pytest.fixture
def built_lock(world: World) -> bytes:
    """The lock of the sample; neither the project nor the store has anything of it any more."""
    lock = build(world.project, world.places, "sample").lock
    content = world.lock.read_bytes()
    world.lock.unlink()
    world.repository.run("update-ref", "-d", f"refs/trees/{lock.tree}")
    world.repository.run("prune", "--expire=now")
    return content


def settled(world: World, lock: bytes) -> bool:
    """A build now gives the lock, and git finds the store whole."""
    assert world.run("build") == 0
    world.repository.run("fsck", "--full", "--strict")
    return world.lock.read_bytes() == lock


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.engine_full)])
def test_a_build_killed_at_any_step_leaves_no_lock_or_the_whole_one(
    world: World, built_lock: bytes, every: int
) -> None:
    restore = restoring(world.root, world.places.store)
    steps = []
    for killed in kills(["build"], world.root, {}, restore, moments=["after"], every=every):
        steps.append(killed.step)
        renamed = any(step.endswith("/sample.lock") for step in steps)
        assert renamed or every > 1 or not world.lock.exists()
        assert settled(world, built_lock)
    if every == 1:
        assert any(step.startswith("git update-ref") for step in steps)
        assert any(step.endswith("/pending.json") for step in steps)
        assert steps[-1].endswith("/undo.json")


@pytest.mark.parametrize("times", [2, pytest.param(8, marks=pytest.mark.engine_full)])
def test_a_build_killed_at_random_moments_leaves_no_lock_or_the_whole_one(
    world: World, built_lock: bytes, times: int
) -> None:
    restore = restoring(world.root, world.places.store)
    for _ in killed_at_random(["build"], world.root, {}, restore, times=times, seed=1):
        assert not world.lock.exists() or world.lock.read_bytes() == built_lock
        assert settled(world, built_lock)
