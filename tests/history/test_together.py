"""Several processes take in at once, and one is killed while it does."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lanewright.history.database import FILE, opened
from lanewright.history.taking_in import take_in
from lanewright.places import Places
from tests.history.made import at, held_rows, lay_arm, lay_night, lay_run, step

TAKING = """\
import sys, time
from pathlib import Path
from lanewright.history.taking_in import take_in
from lanewright.places import Places
state = Path(sys.argv[1])
while not (state / "go").exists():
    time.sleep(0.001)
print(take_in(Places(state, state)))
"""


@pytest.fixture
def stocked(places: Places) -> Places:
    for day in range(1, 13):
        runs = [lay_run(places, at(day), lane) for lane in ("sample", "other")]
        lay_arm(runs[0], "pin.eager.baseline", 4.0)
        steps = [step("boot", run=runs[0].name), step("boot", lane="other", run=runs[1].name)]
        lay_night(places, at(day), steps, lanes=["sample", "other"])
    return places


def forget(places: Places) -> None:
    for file in places.state.glob(f"{FILE}*"):
        file.unlink()


def test_writers_at_once_lose_and_double_nothing(stocked: Places) -> None:
    assert take_in(stocked) == 36
    undisturbed = held_rows(stocked)
    forget(stocked)
    command = [sys.executable, "-c", TAKING, str(stocked.state)]
    writers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    (stocked.state / "go").touch()
    ended = [writer.communicate(timeout=120) for writer in writers]
    assert [said for _, said in ended] == ["", "", ""]
    # Each was taken in by one of them.
    assert sum(int(out) for out, _ in ended) == 36
    assert held_rows(stocked) == undisturbed


def test_killed_at_any_statement_and_then_again(places: Places) -> None:
    run = lay_run(places, at(1))
    lay_arm(run, "pin.eager.baseline", 4.0)
    lay_night(places, at(1), [step("boot", run=run.name)])
    take_in(places)
    undisturbed = held_rows(places)
    script = str(Path(__file__).with_name("dying.py"))
    killed = 0
    for number in range(1, 200, 3):
        forget(places)
        ended = subprocess.run(
            [sys.executable, script, str(places.state), str(number)], check=False
        )
        take_in(places)
        assert held_rows(places) == undisturbed
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL
        killed += 1
    assert ended.returncode == 0
    assert killed > 15


def test_a_writer_waits_for_another_that_changes_what_it_reads(stocked: Places) -> None:
    (stocked.state / "go").touch()
    with opened(stocked) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "INSERT INTO nights VALUES ('x', 'x', NULL, 'x', 'x', NULL, NULL, 'x', 'x')"
        )
        command = [sys.executable, "-c", TAKING, str(stocked.state)]
        waiting = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        time.sleep(1.5)
        assert waiting.poll() is None
        connection.execute("COMMIT")
    assert waiting.communicate(timeout=120) == ("36\n", "")
