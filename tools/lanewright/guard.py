"""Runs one command in a process group of its own and ends the group when its owner lets go.

``python -I -S guard.py GRACE COMMAND...`` with a pipe as standard input. Once the pipe's other end
is closed, which also happens when the owner is killed, or once the command has ended, whatever
is left of the group gets SIGTERM and, GRACE seconds later, SIGKILL. Exits with the command's
status, 128 + N where signal N ended it.
"""

import os
import select
import signal
import sys
import time

KILLED = 5.0

# Only what Python has loaded anyway or loads at once: one of these starts beside every fetch, and
# ``subprocess`` and ``pathlib`` would double what that takes.


def main(grace: float, command: list[str]) -> int:
    """Run the command until it ends or standard input does."""
    # A handler, unlike SIG_IGN, is not handed on to the command.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=[nothing], setpgroup=0)
    poller = select.poll()
    poller.register(sys.stdin, select.POLLIN)
    poller.register(os.pidfd_open(process), select.POLLIN)
    while not any(event & (select.POLLIN | select.POLLHUP) for _, event in poller.poll()):
        pass
    end(process, grace)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def end(process: int, grace: float) -> None:
    """End the whole group; the group's first process is reaped last, so its number stays taken."""
    deadline = time.monotonic() + grace
    os.killpg(process, signal.SIGTERM)
    while time.monotonic() < deadline and others_run(process):
        time.sleep(0.05)
    os.killpg(process, signal.SIGKILL)
    # A killed process still runs, and holds what it holds, until the kernel gets round to it.
    while time.monotonic() < deadline + KILLED and others_run(process):
        time.sleep(0.01)


def others_run(group: int) -> bool:
    """Tell whether a process of the group is alive; zombies are not."""
    for number in os.listdir("/proc"):  # noqa: PTH208 - no pathlib
        if not number.isdecimal():
            continue
        try:
            with open(f"/proc/{number}/stat", errors="replace") as stat:  # noqa: PTH123
                text = stat.read()
        except OSError:
            continue
        state, _, process_group = text.rpartition(") ")[2].split()[:3]
        if int(process_group) == group and state != "Z":
            return True
    return False


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
