"""Runs the steps of a night: a command each, but for the window, which this process holds open."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from lanewright.errors import HardwareError, LanewrightError
from lanewright.nightly.booted import require_ready
from lanewright.nightly.night import Step
from lanewright.nightly.stepping import environ_of_steps, run_step
from lanewright.nightly.window import Window
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.queue.series_window import WindowSpec
from lanewright.serve.run import written
from lanewright.terminal import say

# Takes what an interrupted comparison has finished of the lane.
TAKES_OVER = {"boot": ["--resume"]}


@dataclass(frozen=True)
class Spending:
    """A night under way.

    Attributes:
        project: The user's project.
        places: Has the nights.
        folder: Of the night.
        window: What is open, for the lane whose steps run.
    """

    project: Project
    places: Places
    folder: Path
    window: ExitStack = field(default_factory=ExitStack)

    def started(self, step: Step, number: int) -> Step:
        """A step that is about to run, with its files' names."""
        stem = f"{number:02}-{step.lane}-{step.name}"
        out = f"{stem}.out" if step.command else None
        now = written(datetime.now(UTC))
        return msgspec.structs.replace(step, started=now, out=out, log=f"{stem}.log")

    def run(self, step: Step, *, again: bool) -> Step:
        """Run a step to its end.

        Args:
            step: As ``started`` gives it.
            again: Whether it was interrupted before.
        """
        match step.name:
            case "window":
                return self._held(step, self._open)
            case "restore":
                return self._held(step, self._close)
            case _:
                more: Sequence[str] = TAKES_OVER.get(step.name, ()) if again else ()
                environ = environ_of_steps()
                seconds = self.project.upstream.nightly.step_seconds
                return run_step(
                    *(step, self.project.root, self.folder),
                    more=more,
                    environ=environ,
                    seconds=seconds,
                )

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Have no window stay open behind the block, however that is left."""
        try:
            yield
        finally:
            self.window.close()

    def _held(self, step: Step, act: Callable[[Step], None]) -> Step:
        start = time.monotonic()
        try:
            act(step)
        except HardwareError as error:
            verdict, code, why = "not run", error.exit_code, str(error)
        except LanewrightError as error:
            verdict, code, why = "failed", error.exit_code, str(error)
        except OSError as error:
            verdict, code, why = "failed", LanewrightError.exit_code, str(error)
        else:
            return self._ended(step, start, verdict="passed", exit_code=0)
        say(f"{step.lane} {step.name}: {why}")
        return self._ended(step, start, verdict=verdict, exit_code=int(code), why=why)

    def _ended(self, step: Step, start: float, **found: object) -> Step:
        seconds = round(time.monotonic() - start, 1)
        return msgspec.structs.replace(step, seconds=seconds, **found)

    def _open(self, step: Step) -> None:
        # Another lane's.
        self.window.close()
        lane = str(step.lane)
        series = load_series(self.project, lane)
        spec = series.window or WindowSpec()
        ready = partial(require_ready, self.project, self.places, lane)
        window = Window(self.places, self.project.root, lane, series.device, spec, ready)
        self.window.enter_context(window.open(self.folder / str(step.log)))

    def _close(self, step: Step) -> None:
        try:
            self.window.close()
        finally:
            # What it said is in the window's log.
            with suppress(OSError):
                (self.folder / str(step.log)).touch()
