"""A night that waits for another one says who spends that: lanes, process, and since when."""

import json
import signal
from collections.abc import Sequence

import pytest

from lanewright.nightly.running import lock_of
from lanewright.store.holder import holder_of
from tests.conftest import World
from tests.nightly.nights import add_lane
from tests.nightly.steps import Quick, spent
from tests.nightly.test_left_stopped import until
from tests.process import finish

LONG = "import time; Path(root, 'going').touch(); time.sleep(60)"


def waited(world: World, *words: str) -> str:
    """What a night says first, whom another one keeps waiting; both end."""
    waiting = spent(world, *words)
    assert waiting.stderr
    said = waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    assert finish(waiting)[0] == 130
    return said


@pytest.mark.parametrize("words", [(), ("--restore",)])
def test_who_spends_the_night_is_told(quick: Quick, words: Sequence[str]) -> None:
    world = quick(report=LONG)
    add_lane(world, "second")
    going = spent(world, "sample", "second", "sample")
    until((world.root / "going").exists, going)
    said = waited(world, *words)
    of = f"sample, second, process {going.pid}, since 20"
    assert said.startswith(f"waiting for another lanewright that spends a night: {of}")
    assert said.endswith(" UTC\n")
    going.kill()
    finish(going)
    assert holder_of(lock_of(world.places)) == ""


def test_a_restore_is_of_no_lane(quick: Quick) -> None:
    world = quick()
    world.places.state.mkdir()
    line = f"touch {world.root}/going; until test -e {world.root}/end; do sleep 0.05; done"
    note = {"lane": "sample", "restore": line, "root": "/", "seconds": 60}
    (world.places.state / "stopped.json").write_text(json.dumps(note))
    going = spent(world, "--restore")
    until((world.root / "going").exists, going)
    of = f"process {going.pid}, since 20"
    assert waited(world).startswith(f"waiting for another lanewright that spends a night: {of}")
    (world.root / "end").touch()
    assert finish(going)[0] == 0
