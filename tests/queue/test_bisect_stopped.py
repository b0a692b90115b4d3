"""``bisect`` that is interrupted, told to stop, or whose command is killed: nothing stays."""

import signal
import time
from pathlib import Path

import pytest

from lanewright.guard import others_run
from tests.process import finish, start
from tests.queue.planted import OF_ONE_ENTRY, READING, planted
from tests.transaction.half_done import snapshot
from tests.upstream.fixtures import Carrying
from tests.upstream.whole import leavings

KNOWN = "known after 2 tries: bad with 9 of 9 parts:\n  101\n  102\n  103\n"


def state(carrying: Carrying) -> tuple[object, bytes]:
    return snapshot(carrying.root), carrying.repository.run("for-each-ref").stdout


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_ends_the_command_and_tells_what_is_known(
    carrying: Carrying, tmp_path: Path, number: int, code: int
) -> None:
    planted(carrying)
    before = state(carrying)
    started = tmp_path / "started"
    sleeping = (
        f"if {OF_ONE_ENTRY}; then echo $$ >{started}.new; mv {started}.new {started}; sleep 60; fi"
    )
    process = start(carrying.root, "bisect", "--run", f"{sleeping}; {READING}")
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    ended, out, talk = finish(process)
    assert (ended, out) == (code, "")
    assert KNOWN in talk
    assert "Traceback" not in talk
    assert not others_run(int(started.read_text()))
    assert leavings(carrying) == []
    assert state(carrying) == before


def test_a_command_that_is_killed_ends_with_1_and_what_is_known(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    planted(carrying)
    before = state(carrying)
    capfd.readouterr()
    command = f"! {OF_ONE_ENTRY} || kill -SEGV $$; {READING}"
    assert carrying.run("bisect", "--run", command) == 1
    talk = capfd.readouterr().err
    assert KNOWN in talk
    assert "the command was ended by SIGSEGV, which is no verdict" in talk
    assert leavings(carrying) == []
    assert state(carrying) == before


def test_what_a_killed_run_left_is_taken_away_by_the_next(
    carrying: Carrying, tmp_path: Path
) -> None:
    name = planted(carrying)
    before = state(carrying)
    started = tmp_path / "started"
    process = start(carrying.root, "bisect", "--run", f": >{started}; sleep 60")
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    finish(process)
    assert leavings(carrying) != []
    assert state(carrying) == before
    code, out, _ = finish(start(carrying.root, "bisect", "--run", READING))
    assert (code, out.split()[0]) == (0, name)
    assert leavings(carrying) == []


def test_what_the_command_leaves_running_ends_with_it(
    carrying: Carrying, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    planted(carrying)
    capfd.readouterr()
    groups = tmp_path / "groups"
    command = f"sleep 60 >/dev/null 2>&1 & echo $$ >>{groups}; {READING}"
    assert carrying.run("bisect", "--run", command) == 0
    found = [int(number) for number in groups.read_text().split()]
    assert len(found) > 3
    assert not any(others_run(group) for group in found)
