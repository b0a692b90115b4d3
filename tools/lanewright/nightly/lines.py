"""Lines for sh that a night runs, with what they say in a log."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lanewright.guarded import GRACE, SIGNALLED, ended, guarded
from lanewright.nightly.signals import deferred
from lanewright.terminal import say

POLL = 0.05
ROOT = Path("/")


def run_line(line: str, root: Path, log: Path, seconds: float) -> str:
    """Run a line to its end; what it left running is ended, too, and all of it with this process.

    Where that is killed, at once: what is restored then must not be stopped behind that.

    Args:
        line: For sh.
        root: Folder in which it runs; ``/`` where there is none of that name.
        log: For the line, and what it says; where that cannot be written, it runs all the same.
        seconds: After which it is ended.

    Returns:
        How it failed, or nothing.
    """
    return _ran(line, root, log, seconds, guard=True)


def run_lasting(line: str, root: Path, log: Path, seconds: float) -> str:
    """The same, but what the line starts stays: behind it, and when it took too long."""
    failed = _ran(line, root, log, seconds, guard=False)
    if failed and not _noted(log, f"{failed}\n"):
        # It may have failed for its own words, which a full disk does not take.
        failed = _ran(line, root, Path(os.devnull), seconds, guard=False)
    return failed


def _ran(line: str, root: Path, log: Path, seconds: float, *, guard: bool) -> str:
    command = ["sh", "-c", line]
    with _opened(log, f"$ {line}\n") as stream:
        try:
            process = subprocess.Popen(
                guarded(command, orphaned=0) if guard else command,
                stdin=subprocess.PIPE if guard else subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                cwd=root if root.is_dir() else ROOT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"it cannot be run: {error}"
        try:
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"it did not end within {seconds:.0f} s"
        finally:
            with deferred():
                _let_go(process)
    return how_ended(status)


def _let_go(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin:
        with suppress(BrokenPipeError):
            # The guard ends the rest of its group before it ends itself; a pipe that is closed while
            # it does tells it that this process was killed.
            os.write(process.stdin.fileno(), b"\n")
        process.wait()
        process.stdin.close()
    elif process.poll() is None:
        process.kill()
    process.wait()


def how_ended(status: int) -> str:
    """How a process failed, by what Python has of its end; nothing where it did not."""
    return ended(status if status >= 0 else SIGNALLED - status) if status else ""


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a session's first process and its group: asked first, and killed after a while."""
    with deferred():
        os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        # Not reaped yet, so that its number stays its group's.
        looked = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while not os.waitid(os.P_PID, process.pid, looked) and time.monotonic() < deadline:
            time.sleep(POLL)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _opened(log: Path, head: str) -> Iterator[int]:
    """A log for a line to write to, or nowhere, where it takes no word."""
    file = log if _noted(log, head) else Path(os.devnull)
    with file.open("ab", buffering=0) as stream:
        yield stream.fileno()


def _noted(log: Path, words: str) -> bool:
    """Whether a log took some words."""
    try:
        with log.open("ab", buffering=0) as stream:
            stream.write(words.encode("utf-8", "replace"))
    except OSError as error:
        say(f"{log} cannot be written, and tells not all: {error.strerror}")
        return False
    return True
