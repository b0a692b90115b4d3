"""The machine that serves, had for a while: drained, stopped, and restored on every way out."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import HardwareError, LanewrightError
from lanewright.nightly.free import free_bytes, users
from lanewright.nightly.lines import run_line
from lanewright.nightly.machine_lock import machine_locked
from lanewright.nightly.stopped import Stopped, note_stopped, restore, start_again
from lanewright.places import Places
from lanewright.project import Device
from lanewright.queue.series_window import WindowSpec
from lanewright.serve.hardware import require_hardware

POLL = 0.5
# Seconds that a process may take to be gone from its GPU, once what stops it has ended.
LEAVING = 30.0


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
        if self.spec.lock:
            closing.enter_context(machine_locked(Path(self.spec.lock)))
        # Asked before anything is stopped: where the driver does not tell, nothing is.
        busy = users(self.device)
        if busy and not self.spec.stop:
            raise HardwareError(f"serving: {'; '.join(busy)}")
        if self.spec.restore:
            closing.callback(start_again, self.places, log)
            self._note()
        for what in ("drain", "stop"):
            line = getattr(self.spec, what)
            if line and (failed := run_line(line, self.root, log, self.spec.seconds)):
                raise LanewrightError(f"[window] {what}: {failed}: {line}")
        self._require_free()
        self._require_unused()

    def _note(self) -> None:
        spec = self.spec
        note_stopped(
            self.places,
            Stopped(self.lane, spec.restore, str(self.root), spec.seconds, spec.lock),
        )

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
