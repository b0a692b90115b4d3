"""Child processes that write a log, are watched, and never outlive this one."""

import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lanewright.errors import HardwareError, LanewrightError
from lanewright.guarded import guarded
from lanewright.terminal import say

SHOWN_LINES = 20
POLL = 0.2
# Importing vLLM logs nothing for half a minute.
SILENCE = 10.0

# What a boot is known to pass, in vLLM's own log lines, and what is said of it.
STEPS = (
    (re.compile(r"expert_bank \S+ is in"), "plugin loaded"),
    (re.compile(r"Starting to load model"), "loading the model"),
    (re.compile(r"GPU KV cache size|CPU KV cache size"), "cache allocated"),
    (re.compile(r"init engine \(profile"), "engine up"),
    (re.compile(r"Application startup complete"), "server up"),
)
# What our own scripts say of themselves.
OWN_STEP = re.compile(r"(?:arm \S+|training): .*")
# What a shim says that cannot stand in for what the machine lacks.
NOT_HERE = re.compile(r"^shim \S+: not here: .*$", re.MULTILINE)


class BootError(LanewrightError):
    """A process of the lane died or hung.

    Attributes:
        who: Its name; empty where that is of no use.
    """

    who: str = ""


@dataclass(frozen=True)
class Child:
    """A running command.

    Attributes:
        name: What it is, for messages.
        guard: The process that ends the command's whole group when this process lets go.
        log: File that both output streams of the command go to.
    """

    name: str
    guard: "subprocess.Popen[bytes]"
    log: Path

    def died(self, what: str) -> LanewrightError:
        """Make the error for a command that ended or hung, with the end of its log.

        Returns:
            A HardwareError where a shim said that the machine lacks what the lane needs, else a
            BootError.
        """
        if said := NOT_HERE.search(self.log.read_text(errors="replace")):
            return HardwareError(
                f"{self.name} needs hardware that this machine lacks: {said[0]}",
                hint=f"boot it where that is; the whole log is {self.log}",
            )
        error = BootError(
            f"{self.name} {what}; the end of {self.log}:\n{tail(self.log)}",
            hint=f"read {self.log}",
        )
        error.who = self.name
        return error


@contextmanager
def child(
    name: str,
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    log: Path,
    out: Path | None = None,
) -> Iterator[Child]:
    """Run a command in its own session while the block runs, then end its whole group.

    The group ends however the block is left, by an exception or Ctrl-C too, and also when this
    process is killed: the guard between the two then reads the end of a pipe.

    Args:
        name: What it is, for messages.
        command: What is run.
        environ: All of its variables.
        log: For both output streams; its folder is where it runs.
        out: For its standard output alone, which the log then lacks.
    """
    with ExitStack() as files:
        talk = files.enter_context(log.open("wb"))
        guard = subprocess.Popen(
            guarded(command),
            stdin=subprocess.PIPE,
            stdout=files.enter_context(out.open("wb")) if out else talk,
            stderr=talk,
            env=dict(environ),
            cwd=log.parent,
            start_new_session=True,
        )
    try:
        yield Child(name, guard, log)
    finally:
        # Closes its standard input, then waits for it.
        guard.communicate()


def watch(
    running: Child, *, seconds: float, ready: Callable[[], bool] = lambda: False
) -> int | None:
    """Wait until a command ends or is ready, and say which steps its log shows.

    Args:
        running: The command.
        seconds: How long to wait for the next step, or for the end after the last.
        ready: Asked several times a second.

    Returns:
        The exit status, or None when ``ready`` said so first.

    Raises:
        BootError: Nothing happened in time.
    """
    with running.log.open("rb") as log:
        watched = _Watched(running, log, seconds)
        while (status := watched.look()) is None and not ready():
            time.sleep(POLL)
        return status


def watch_each(commands: Sequence[Child], *, seconds: float) -> Iterator[tuple[Child, int]]:
    """Watch commands that run at once; yield each as it ends, with its exit status.

    Args:
        commands: They.
        seconds: As for ``watch``, each by itself.

    Raises:
        BootError: Nothing happened in time.
    """
    with ExitStack() as logs:
        left = [
            _Watched(each, logs.enter_context(each.log.open("rb")), seconds) for each in commands
        ]
        while left:
            for watched in tuple(left):
                if (status := watched.look()) is not None:
                    left.remove(watched)
                    yield watched.running, status
            time.sleep(POLL)


class _Watched:
    """A command that is looked at several times a second.

    Attributes:
        running: The command.
    """

    def __init__(self, running: Child, log: BinaryIO, seconds: float) -> None:
        self.running = running
        self._log = log
        self._seconds = seconds
        self._said: set[str] = set()
        self._start = self._heard = self._stepped = time.monotonic()

    def look(self) -> int | None:
        """Say what the log shows of new steps; the exit status, or None while it runs.

        Raises:
            BootError: There was no step in time.
        """
        status = self.running.guard.poll()
        for step in new_steps(self._log):
            if step not in self._said:
                self._said.add(step)
                self._stepped = self._tell(step)
        now = time.monotonic()
        if now - self._heard > SILENCE:
            self._tell("still at it")
        if status is None and now - self._stepped >= self._seconds:
            raise self.running.died(f"made no step within {self._seconds:.0f} s")
        return status

    def _tell(self, what: str) -> float:
        """Say how far it is; the time at which that was said."""
        self._heard = time.monotonic()
        say(f"  {self.running.name}: {what} ({self._heard - self._start:.0f} s)")
        return self._heard


def new_steps(log: BinaryIO) -> Iterator[str]:
    """Yield the steps that were logged since the last call."""
    for line in log:
        text = line.decode(errors="replace")
        if OWN_STEP.match(text):
            yield text.strip()
        for pattern, step in STEPS:
            if pattern.search(text):
                yield step


def tail(log: Path) -> str:
    """Last lines of a log."""
    lines = log.read_text(errors="replace").splitlines()
    return "\n".join(lines[-SHOWN_LINES:])
