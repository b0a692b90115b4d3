"""Commands that do not outlive this process, however it ends."""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

GRACE = 10.0
SIGNALLED = 128
GUARD = Path(__file__).with_name("guard.py")


def guarded(command: Sequence[str], *, orphaned: float | None = None) -> list[str]:
    """The command under a guard that ends its whole group once the guard's input is closed.

    Start it with a pipe as standard input, in a session of its own; the pipe is closed when this
    process lets go of it, and also when this process is killed.

    Args:
        command: What is run.
        orphaned: Seconds between SIGTERM and SIGKILL where that is closed, by default as many as
            else. With fewer, letting go is to write a byte, to wait, and to close then.
    """
    seconds = GRACE if orphaned is None else orphaned
    return [sys.executable, "-I", "-S", str(GUARD), str(GRACE), str(seconds), *command]


def ended(status: int) -> str:
    """Say how a command ended."""
    number = status - SIGNALLED
    if number in {each.value for each in signal.Signals}:
        return f"was ended by {signal.Signals(number).name}"
    return f"ended with exit status {status}"
