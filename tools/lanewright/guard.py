"""Runs one command in a process group of its own and ends the group when its owner lets go.

``python -I -S guard.py GRACE COMMAND...`` with a pipe as standard input. Once the pipe's other end
is closed, which also happens when the owner is killed, or once the command has ended, whatever
is left of the group gets SIGTERM and, GRACE seconds later, SIGKILL. Exits with the command's
status, 128 + N where signal N ended it.
"""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

KILLED = 5.0


def main(grace: float, command: list[str]) -> int:
    """Run the command until it ends or standard input does."""
    # A handler, unlike SIG_IGN, is not handed on to the command.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    poller = select.poll()
    poller.register(sys.stdin, select.POLLIN)
    poller.register(os.pidfd_open(process.pid), select.POLLIN)
    while not any(event & (select.POLLIN | select.POLLHUP) for _, event in poller.poll()):
        pass
    end(process, grace)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def end(process: "subprocess.Popen[bytes]", grace: float) -> None:
    """End the whole group; the group's first process is reaped last, so its number stays taken."""
    deadline = time.monotonic() + grace
    os.killpg(process.pid, signal.SIGTERM)
    while time.monotonic() < deadline and others_run(process.pid):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    # A killed process still runs, and holds what it holds, until the kernel gets round to it.
    while time.monotonic() < deadline + KILLED and others_run(process.pid):
        time.sleep(0.01)
    process.wait()


def others_run(group: int) -> bool:
    """Tell whether a process of the group is alive; zombies are not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except OSError:
            continue
        state, _, process_group = text.rpartition(") ")[2].split()[:3]
        if int(process_group) == group and state != "Z":
            return True
    return False


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
