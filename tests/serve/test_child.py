import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from lanewright.guarded import ended
from lanewright.serve.child import BootError, child, tail, watch, watch_each

TOOLS = Path(__file__).parents[2] / "tools"

# Starts a process that will not end by itself nor on SIGTERM, says its number, and waits.
STUBBORN = """\
import subprocess, sys
inner = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf'); \\
time.sleep(600)"
grandchild = subprocess.Popen([sys.executable, "-u", "-c", inner])
print("grandchild", grandchild.pid, flush=True)
grandchild.wait()
"""

OWNER = """\
import os, sys, time
from pathlib import Path
from lanewright import guarded
from lanewright.serve import child
guarded.GRACE = 0.5
with child.child("it", sys.argv[2:], environ=os.environ, log=Path(sys.argv[1])):
    time.sleep(600)
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone_within(seconds: float, pid: int) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def grandchild_in(log: Path) -> int:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        text = log.read_text() if log.exists() else ""
        if "deaf" in text:
            return int(text.partition("grandchild ")[2].split()[0])
        time.sleep(0.05)
    raise AssertionError("the grandchild did not start")


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanewright.guarded.GRACE", 0.5)


def test_status_and_output_come_back(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('said'); raise SystemExit(7)"]
    with child("it", command, environ=os.environ, log=tmp_path / "log") as running:
        assert watch(running, seconds=30) == 7
    assert (tmp_path / "log").read_text() == "said\n"
    assert ended(7) == "ended with exit status 7"


def test_a_signal_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"]
    with child("it", command, environ=os.environ, log=tmp_path / "log") as running:
        status = watch(running, seconds=30)
    assert status is not None
    assert ended(status) == "was ended by SIGSEGV"


def test_a_status_that_is_no_signal_is_told_as_it_is() -> None:
    assert ended(255) == "ended with exit status 255"
    assert ended(128) == "ended with exit status 128"


def test_the_command_gets_signals_as_usual(tmp_path: Path) -> None:
    program = "import signal; print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)"
    command = [sys.executable, "-c", program]
    with child("it", command, environ=os.environ, log=tmp_path / "log") as running:
        assert watch(running, seconds=30) == 0
    assert (tmp_path / "log").read_text() == "True\n"


def test_a_hang_ends_with_the_last_lines(tmp_path: Path) -> None:
    program = "import time\nfor n in range(50): print('line', n, flush=True)\ntime.sleep(600)"
    command = [sys.executable, "-c", program]
    with (
        pytest.raises(BootError, match="made no step within 2 s") as caught,
        child("it", command, environ=os.environ, log=tmp_path / "log") as running,
    ):
        watch(running, seconds=2)
    assert "line 49" in str(caught.value)
    assert "line 29\n" not in str(caught.value)
    assert str(tmp_path / "log") in str(caught.value)


def test_each_step_gives_new_time(tmp_path: Path) -> None:
    program = "import time\nfor n in range(4): print(f'arm {n}: on', flush=True); time.sleep(1)"
    command = [sys.executable, "-c", program]
    with child("it", command, environ=os.environ, log=tmp_path / "log") as running:
        assert watch(running, seconds=2) == 0


def test_no_grandchild_outlives_the_block(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STUBBORN]
    with child("it", command, environ=os.environ, log=tmp_path / "log"):
        grandchild = grandchild_in(tmp_path / "log")
        assert alive(grandchild)
    assert not alive(grandchild)


def test_no_grandchild_outlives_a_killed_owner(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", OWNER, str(log), sys.executable, "-c", STUBBORN]
    environ = {**os.environ, "PYTHONPATH": str(TOOLS)}
    with subprocess.Popen(command, env=environ) as owner:
        try:
            grandchild = grandchild_in(log)
        finally:
            owner.send_signal(signal.SIGKILL)
    assert gone_within(30, grandchild)


def test_steps_are_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = "print('Starting to load model x'); print('Starting to load model x')"
    command = [sys.executable, "-c", program]
    with child("it", command, environ=os.environ, log=tmp_path / "log") as running:
        watch(running, seconds=30)
    assert capsys.readouterr().err.count("it: loading the model") == 1


def test_tail_of_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"\xff one\ntwo\n")
    assert tail(tmp_path / "log").endswith("two")


def test_commands_that_run_at_once_are_told_as_each_ends(tmp_path: Path) -> None:
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                child(name, ["sh", "-c", script], environ=os.environ, log=tmp_path / f"{name}.log")
            )
            for name, script in (("long", "sleep 1; exit 3"), ("short", "exit 4"))
        ]
        found = [(each.name, status) for each, status in watch_each(running, seconds=30)]
    assert found == [("short", 4), ("long", 3)]


def test_of_commands_that_run_at_once_the_one_that_hangs_is_named(tmp_path: Path) -> None:
    """The other goes on with its steps, which are none of the hanging one's."""
    busy = "for i in 1 2 3 4 5 6 7 8; do echo arm it: $i; sleep 0.5; done"
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                child(name, ["sh", "-c", script], environ=os.environ, log=tmp_path / f"{name}.log")
            )
            for name, script in (("busy", busy), ("hung", "sleep 60"))
        ]
        with pytest.raises(BootError, match=r"^hung made no step within 2 s;") as caught:
            list(watch_each(running, seconds=2))
    assert caught.value.who == "hung"
