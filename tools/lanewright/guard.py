"""Runs one command in a process group of its own and ends its session when its owner lets go.

``python -I -S guard.py GRACE ORPHANED COMMAND...`` with a pipe as standard input. Once the pipe's
other end writes or is closed, which also happens when the owner is killed, or once the command has
ended, whatever is left of the group, and of the session that this is the first process of, gets
SIGTERM and, GRACE seconds later, SIGKILL: ORPHANED seconds later where the pipe is closed, so that
an owner who writes, waits and closes then has another grace than one that is killed. Exits with the
command's status, 128 + N where signal N ended it.
"""

# Only what Python has loaded anyway or loads at once: one of these starts beside every fetch, and
# ``subprocess`` and ``pathlib`` would double what that takes. ``signal`` is this and enums of it.
import _signal as signal  # type: ignore[import-not-found]
import os
import select
import sys
import time

KILLED = 5.0
MUCH = 4096
NONE = (b"", b"", b"0", b"0")


def main(grace: float, orphaned: float, command: list[str]) -> int:
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
    end(process, grace, orphaned)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def end(process: int, grace: float, orphaned: float) -> None:
    """End the whole group; the group's first process is reaped last, so its number stays taken."""
    start = time.monotonic()
    deadline = start + grace
    # Its own number, where it is the first of its session, else no session's.
    session = os.getpid()
    tell(process, session, signal.SIGTERM)
    while time.monotonic() < deadline and others_run(process, session):
        if is_closed():
            deadline = min(deadline, start + orphaned)
        time.sleep(0.05)
    tell(process, session, signal.SIGKILL)
    deadline = time.monotonic()
    # A killed process still runs, and holds what it holds, until the kernel gets round to it.
    while time.monotonic() < deadline + KILLED and others_run(process, session):
        time.sleep(0.01)


def is_closed() -> bool:
    """Tell whether nobody holds the other end of standard input any more."""
    poller = select.poll()
    poller.register(sys.stdin, 0)
    return any(event & select.POLLHUP for _, event in poller.poll(0))


def tell(group: int, session: int, number: int) -> None:
    """Send a signal to the group, and to what left it for one of its own, as ``timeout`` does."""
    os.killpg(group, number)
    for process, process_group in alive(group, session):
        if process_group != group:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue  # it has ended meanwhile


def others_run(group: int, session: int = 0) -> bool:
    """Tell whether a process of the group, or of the session but its first, is alive."""
    return bool(alive(group, session))


def alive(group: int, session: int) -> list[tuple[int, int]]:
    """Processes and their groups, of a group and of a session but its first; zombies are not."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - no pathlib
        if not name.isdecimal() or int(name) == session:
            continue
        state, _, *numbers = stat(name).rpartition(b") ")[2].split()[:4] or NONE
        process_group, process_session = map(int, numbers)
        # What the kernel started is of session 0.
        ours = process_group == group or (session and process_session == session)
        if ours and state != b"Z":
            found.append((int(name), process_group))
    return found


def stat(number: str) -> bytes:
    """What the kernel tells of a process; nothing where it is gone."""
    try:
        file = os.open(f"/proc/{number}/stat", os.O_RDONLY)  # a file object takes as long again
    except OSError:
        return b""
    try:
        return os.read(file, MUCH)
    except OSError:
        return b""
    finally:
        os.close(file)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
