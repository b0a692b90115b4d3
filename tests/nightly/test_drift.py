"""Drift is what upstream did, never what somebody edited here."""

from pathlib import Path

from tests.commands.stand_in_lane import UPSTREAM, Lay
from tests.nightly.nights import night, step_of
from tests.upstream.tree import BESIDE
from tests.upstream.wheels import make_wheel


def test_the_lanes_own_edits_are_no_drift(lay: Lay, index: Path) -> None:
    world = lay()
    make_wheel(index, "9.9.9", {**UPSTREAM, **BESIDE})
    package = world.root / "overlay/expert_bank/__init__.py"
    package.write_text(package.read_text() + "\n# edited since the lock was written\n")
    assert world.run("nightly") == 0
    drift = step_of(night(world), "sample", "drift")
    assert (drift["verdict"], drift["exit_code"]) == ("passed", 0)


def test_a_newer_release_is_drift(lay: Lay, index: Path) -> None:
    world = lay()
    for version in ("9.9.9", "9.9.10"):
        make_wheel(index, version, {**UPSTREAM, **BESIDE})
    assert world.run("nightly") == 0
    drift = step_of(night(world), "sample", "drift")
    assert (drift["verdict"], drift["exit_code"]) == ("drift", 4)
