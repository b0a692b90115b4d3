"""What a window stopped, and how it starts again.

It is on disk before anything is stopped, so that it is found after a kill -9, too: by
``lanewright nightly --restore``, which a service manager runs, or by the next night.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from lanewright.errors import ExitCode, LanewrightError
from lanewright.nightly.lines import run_lasting
from lanewright.nightly.machine_lock import machine_locked
from lanewright.nightly.signals import deferred
from lanewright.places import Places
from lanewright.store.atomic import replace_file, sync_folder
from lanewright.store.regular import read_regular
from lanewright.terminal import say

NOTE_MOST = 1_000_000
AGAIN = "lanewright nightly --restore"


class LeftError(LanewrightError):
    """Interrupted, and what was stopped still is."""

    exit_code = ExitCode.INTERRUPTED


class Stopped(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What was stopped, and starts again by.

    Attributes:
        lane: Whose window it was.
        restore: Line for sh.
        root: Folder of the project, where it runs.
        seconds: How long it may take, and the machine's lock before that.
        lock: That of the machine; empty for none, and in a note of a lanewright that noted none.
    """

    lane: str
    restore: str
    root: str
    seconds: int
    lock: str = ""


def file_of(places: Places) -> Path:
    """Where it is noted what is to be restored."""
    return places.state / "stopped.json"


def note_stopped(places: Places, stopped: Stopped) -> None:
    """Write down what is about to be stopped; it is on disk then."""
    places.state.mkdir(parents=True, exist_ok=True)
    replace_file(file_of(places), msgspec.json.encode(stopped))
    sync_folder(places.state)


def restore(places: Places, log: Path) -> None:
    """Start again what another window stopped, if one did, and nobody has the machine by now.

    The kernel gave the lock of a night that was killed back; whoever took it since is waited for.

    Raises:
        LanewrightError: It does not start, or another still has the machine; the note stays.
    """
    file = file_of(places)
    if not os.path.lexists(file):
        return
    stopped = _noted(file)
    with ExitStack() as closing:
        if stopped.lock:
            _lock(stopped, closing)
        start_again(places, log)


def _lock(stopped: Stopped, closing: ExitStack) -> None:
    lock = Path(stopped.lock)
    try:
        closing.enter_context(machine_locked(lock, stopped.seconds))
    except LanewrightError as error:
        if isinstance(error.__cause__, OSError) and _absent(lock):
            # As after a start of the machine, which empties /run.
            say(f"{lock} is gone and cannot be made: nobody has it locked")
            return
        raise LanewrightError(_left(stopped, str(error)), hint=AGAIN) from error


def _absent(file: Path) -> bool:
    try:
        file.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def start_again(places: Places, log: Path) -> None:
    """The same, for whoever holds the machine's lock; the note goes once that is done.

    No signal cuts it short.

    Raises:
        LanewrightError: It does not start; the note stays.
    """
    file = file_of(places)
    if not os.path.lexists(file):
        return
    with deferred():
        stopped = _noted(file)
        say(f"lane {stopped.lane}: its window closes: {stopped.restore}")
        if failed := run_lasting(stopped.restore, Path(stopped.root), log, stopped.seconds):
            raise LanewrightError(_left(stopped, f"{failed}: {stopped.restore}"), hint=AGAIN)
        file.unlink(missing_ok=True)


def _left(stopped: Stopped, why: str) -> str:
    return f"lane {stopped.lane}: what serves was NOT restored: {why}"


def _noted(file: Path) -> Stopped:
    content = read_regular(file, NOTE_MOST)
    try:
        return msgspec.json.decode(content or b"", type=Stopped)
    except ValueError as error:
        why = error if content else "it is no regular file, or holds nothing"
        raise LanewrightError(
            f"what serves was NOT restored: {file} does not tell how: {why}",
            hint=f"start by hand what serves here, then remove {file}",
        ) from error


@contextmanager
def naming_what_is_left(places: Places) -> Iterator[None]:
    """Where the block is interrupted and something still is stopped, have that be the last word.

    Raises:
        LeftError: In place of Ctrl-C's own exception.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as cut:
        if not os.path.lexists(file_of(places)):
            raise
        told = "interrupted, and what serves was NOT restored"
        if isinstance(cut, KeyboardInterrupt):
            raise LeftError(told, hint=AGAIN) from cut
        say(f"lanewright: {told}")
        say(f"  next: {AGAIN}")
        raise
