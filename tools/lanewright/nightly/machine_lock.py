"""The lock of a machine, taken as flock(1) takes it: whoever may read a file may lock it."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lanewright.errors import HardwareError, LanewrightError
from lanewright.terminal import say

POLL = 0.2
# Opening a pipe would wait for its other end.
FLAGS = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@contextmanager
def machine_locked(file: Path, seconds: float = 0) -> Iterator[None]:
    """Hold a machine's lock; it is never written to, nor removed, since others lock it by its name.

    Args:
        file: A file, made where there is none, or a folder.
        seconds: How long to wait for another who holds it.

    Raises:
        HardwareError: Another holds it, and still does after that time.
        LanewrightError: It cannot be opened, made or locked.
    """
    try:
        descriptor = _opened(file)
    except (OSError, ValueError) as error:  # a name that no file can have
        raise _refused(file, error) from error
    try:
        _take(descriptor, file, seconds)
        yield
    finally:
        os.close(descriptor)


def _opened(file: Path) -> int:
    """Open a lock for writing where that is allowed, which NFS asks for, else for reading alone.

    One that is there is not opened as if it were to be made: in a folder like /tmp the kernel would
    refuse that for another's file (``fs.protected_regular``).
    """
    try:
        return os.open(file, os.O_RDWR | FLAGS)
    except FileNotFoundError:
        return os.open(file, os.O_RDWR | os.O_CREAT | FLAGS, 0o666)
    except OSError:
        return os.open(file, os.O_RDONLY | FLAGS)


def _take(descriptor: int, file: Path, seconds: float) -> None:
    deadline, told = time.monotonic() + seconds, False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise HardwareError(f"in use: {file} is locked by another") from None
        except OSError as error:
            raise _refused(file, error) from error
        else:
            return
        if not told:
            say(f"waiting for another, who has {file} locked: {seconds:.0f} s at most")
            told = True
        time.sleep(POLL)


def _refused(file: Path, error: OSError | ValueError) -> LanewrightError:
    why = error.strerror if isinstance(error, OSError) else error
    return LanewrightError(
        f"[window] lock: {file} cannot be locked: {why}",
        hint="make it as a file that whoever spends the night may read, outside of /tmp:"
        " docs/nightly.md tells where",
    )
