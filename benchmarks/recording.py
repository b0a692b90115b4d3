"""Records what a command shows on a terminal, as asciinema plays it (asciicast, version 2)."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

COLUMNS, LINES = 100, 20
READ = 65536


@contextmanager
def recorded(command: Sequence[str], file: Path) -> Iterator[None]:
    """Run a command on a terminal of its own while the block runs, and keep what it shows.

    Args:
        command: It is ended with all that it started.
        file: ``.cast``.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environ = {**os.environ, "TERM": "xterm-256color"}
    running = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, start_new_session=True
    )
    os.close(theirs)
    reader = threading.Thread(target=_keep, args=(ours, file))
    reader.start()
    try:
        yield
    finally:
        # What it started has the terminal, too.
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGTERM)
        running.wait()
        reader.join()
        os.close(ours)


def _keep(terminal: int, file: Path) -> None:
    start = time.monotonic()
    with file.open("w") as out:
        header = {"version": 2, "width": COLUMNS, "height": LINES}
        out.write(json.dumps(header) + "\n")
        while shown := _read(terminal):
            seconds = round(time.monotonic() - start, 3)
            out.write(json.dumps([seconds, "o", shown.decode(errors="replace")]) + "\n")


def _read(terminal: int) -> bytes:
    """Read what is shown; nothing once nobody has the other end."""
    try:
        return os.read(terminal, READ)
    except OSError:
        return b""
