"""A comparison on real vLLM that is killed half-way is gone on with, and comes to the same verdict."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from lanewright.places import Places
from tests.engine.conftest import Lane
from tests.engine.test_two_bank import (
    SHORT,
    asked_less,
    lane_named,
    require_equal,
    require_served,
)
from tests.process import start

pytestmark = pytest.mark.engine_full

FINISHED = ("eager.baseline", "eager.self", "eager.off", "eager.on")
LEFT = ("eager.swaps", "eager.follows", "eager.mapped")
SECONDS = 300.0


def answers(lane: Lane) -> list[Path]:
    """Folders of the answers of all runs, oldest first."""
    return sorted(Places.of_user().state.glob(f"runs/{lane.name}/*/equality"))


def kill_behind(lane: Lane, arm: str) -> None:
    """Start a comparison, and kill it with -9 once an arm of the lane has finished."""
    process = start(lane.root, "equal", lane.name)
    deadline = time.monotonic() + SECONDS
    while not any((each / f"lane.{arm}.finished.json").exists() for each in answers(lane)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def booted(folder: Path) -> list[str]:
    """Engines that a run booted, or was to boot."""
    specs = [folder / f"{side}.spec.json" for side in ("pin", "lane")]
    read: list[dict[str, Any]] = [json.loads(each.read_text()) for each in specs if each.exists()]
    return [arm["name"] for spec in read for arm in spec["arms"]]


def test_killed_behind_the_arm_that_makes_the_map(lane: Lane) -> None:
    lane = lane_named(lane, "cpu-twobank")
    asked_less(lane, SHORT)
    assert lane.run("build", lane.name) == 0
    kill_behind(lane, "eager.on")
    assert lane.records() == []
    assert lane.run("equal", lane.name, "--resume") == 0
    (record,) = lane.records()
    require_equal(record, ("eager",), 8)
    require_served(record, ("eager",))
    killed, resumed = answers(lane)
    assert booted(killed) == [*FINISHED, *LEFT]
    assert booted(resumed) == [*LEFT]
    assert {
        arm: each["run"] for arm, each in record["equality"]["resumed"].items()
    } == dict.fromkeys(FINISHED, killed.parent.name)
