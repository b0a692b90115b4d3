"""The machine that serves, had for a while: drained, stopped, and restored on every way out.

What is to be restored is on disk before anything is stopped, so that it is found after a kill -9,
too: by ``lanewright nightly --restore``, which a service manager runs, or by the next night.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lanewright.errors import ExitCode, HardwareError, LanewrightError
from lanewright.nightly.free import free_bytes, users
from lanewright.nightly.lines import run_lasting, run_line
from lanewright.nightly.signals import deferred
from lanewright.places import Places
from lanewright.project import Device
from lanewright.queue.series_window import WindowSpec
from lanewright.serve.hardware import require_hardware
from lanewright.store.atomic import replace_file, sync_folder
from lanewright.store.regular import read_regular
from lanewright.terminal import say

POLL = 0.5
# Seconds that a process may take to be gone from its GPU, once what stops it has ended.
LEAVING = 30.0
NOTE_MOST = 1_000_000
AGAIN = "lanewright nightly --restore"


class LeftError(LanewrightError):
    """Interrupted, and what was stopped still is."""

    exit_code = ExitCode.INTERRUPTED


class Stopped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was stopped, and starts again by.

    Attributes:
        lane: Whose window it was.
        restore: Line for sh.
        root: Folder of the project, where it runs.
        seconds: How long it may take.
    """

    lane: str
    restore: str
    root: str
    seconds: int


@dataclass(frozen=True)
class Window:
    """A window of a lane.

    Attributes:
        places: Has the state.
        root: Of the project.
        lane: Whose.
        device: What it runs on.
        spec: How the machine is had.
        ready: Refuses what a boot would: for that, nothing is stopped.
    """

    places: Places
    root: Path
    lane: str
    device: Device
    spec: WindowSpec
    ready: Callable[[], None]

    def open(self, log: Path) -> ExitStack:
        """Have the machine; closing what is given back restores it.

        Args:
            log: File for what the lines for sh say.

        Raises:
            HardwareError: It is not here; or it serves, and nothing says how to stop that; or
                another still computes on it once that is stopped, which has been restored.
            LanewrightError: No boot could run; nothing was stopped. Or the machine could not be drained, stopped or freed; it has been restored. Or
                what another window stopped cannot be restored: nothing more is stopped then.
        """
        # Another's note would be written over, and what it stopped forgotten.
        restore(self.places, log)
        require_hardware(self.lane, self.device)
        self.ready()
        closing = ExitStack()
        try:
            self._have(closing, log)
        except BaseException:
            closing.close()
            raise
        return closing

    def _have(self, closing: ExitStack, log: Path) -> None:
        self._lock(closing)
        # Asked before anything is stopped: where the driver does not tell, nothing is.
        busy = users(self.device)
        if busy and not self.spec.stop:
            raise HardwareError(f"serving: {'; '.join(busy)}")
        if self.spec.restore:
            closing.callback(restore, self.places, log)
            self._note()
        for what in ("drain", "stop"):
            line = getattr(self.spec, what)
            if line and (failed := run_line(line, self.root, log, self.spec.seconds)):
                raise LanewrightError(f"[window] {what}: {failed}: {line}")
        self._require_free()
        self._require_unused()

    def _lock(self, closing: ExitStack) -> None:
        if not self.spec.lock:
            return
        from filelock import FileLock, Timeout  # noqa: PLC0415 - a window alone needs it

        try:
            closing.enter_context(FileLock(self.spec.lock).acquire(timeout=0))
        except Timeout:
            raise HardwareError(f"in use: {self.spec.lock} is locked by another") from None

    def _note(self) -> None:
        note = Stopped(self.lane, self.spec.restore, str(self.root), self.spec.seconds)
        self.places.state.mkdir(parents=True, exist_ok=True)
        replace_file(file_of(self.places), msgspec.json.encode(note))
        sync_folder(self.places.state)

    def _require_free(self) -> None:
        """Wait until there is room; a driver takes a while to give back what a process had."""
        deadline = time.monotonic() + self.spec.seconds
        while self.spec.least and (free := free_bytes(self.device)) < self.spec.least:
            if time.monotonic() > deadline:
                if busy := users(self.device):
                    raise HardwareError(f"in use: {'; '.join(busy)}")
                raise LanewrightError(
                    f"[window] min_free: {free:,} bytes are free, and {self.spec.min_free} are"
                    " needed",
                    hint="see what holds the rest: `nvidia-smi`, or `free`",
                )
            time.sleep(POLL)

    def _require_unused(self) -> None:
        """Wait until what was stopped is gone from the GPU, and refuse what computes there all the same."""
        deadline = time.monotonic() + min(self.spec.seconds, LEAVING)
        while busy := users(self.device):
            if time.monotonic() > deadline:
                raise HardwareError(f"in use: {'; '.join(busy)}")
            time.sleep(POLL)


def file_of(places: Places) -> Path:
    """Where it is noted what is to be restored."""
    return places.state / "stopped.json"


def restore(places: Places, log: Path) -> None:
    """Start again what a window stopped, if one did; the note of it goes once that is done.

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
            raise LanewrightError(
                f"lane {stopped.lane}: what serves was NOT restored: {failed}: {stopped.restore}",
                hint=AGAIN,
            )
        file.unlink(missing_ok=True)


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
