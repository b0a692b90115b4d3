"""All or nothing, shown: a command line killed with -9 at each of its steps, and at any moment."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import lanewright
from lanewright.guard import others_run

KILLER = Path(__file__).with_name("killer.py")
MOMENTS = ("before", "after")


@dataclass(frozen=True)
class Killed:
    """A state that a killed command left.

    Attributes:
        number: The how manieth step, or try, it was.
        moment: ``before`` or ``after`` the step, or the share of the run time.
        step: What it was about to do, or had just done; empty where it was killed by the clock.
    """

    number: int
    moment: str
    step: str


def restoring(*folders: Path) -> Callable[[], None]:
    """Brings folders back to what they hold now."""
    kept = {folder: folder.with_name(f"{folder.name}.kept") for folder in folders}
    for folder, copy in kept.items():
        shutil.copytree(folder, copy)

    def restore() -> None:
        for folder, copy in kept.items():
            shutil.rmtree(folder)
            shutil.copytree(copy, folder)

    return restore


def kills(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    prepare: Callable[[], None],
    *,
    moments: Sequence[str] = MOMENTS,
    every: int = 1,
    code: int = 0,
) -> Iterator[Killed]:
    """Kill ``lanewright ARGV`` at its first step that writes state, its second, and so on.

    Yields while the state that the kill left is there; ends where the command has no more steps.

    Args:
        argv: What follows ``lanewright``.
        cwd: Where it runs.
        env: What its environment has beside or instead of this process's own.
        prepare: Brings the state from which each run starts.
        moments: When to kill: ``before`` the step, ``after`` it, or both.
        every: How many steps to go on each time.
        code: What the command ends with when nothing kills it.
    """
    for moment in moments:
        for number in itertools.count(1, every):
            prepare()
            with tempfile.TemporaryDirectory() as scratch:
                log = Path(scratch) / "step"
                command = [sys.executable, str(KILLER), str(number), moment, str(log), *argv]
                process = _start(command, cwd, env, scratch)
                _, talk = process.communicate(timeout=120)
                step = log.read_text() if log.exists() else ""
            if process.returncode != -signal.SIGKILL:
                assert process.returncode == code, talk
                assert number > 1, "the command wrote nothing, so nothing was shown"
                break
            yield Killed(number, moment, step)


def killed_at_random(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    prepare: Callable[[], None],
    *,
    times: int = 20,
    seed: int = 0,
    code: int = 0,
) -> Iterator[Killed]:
    """Kill ``lanewright ARGV`` and every process that it started, at a random moment of its run.

    Yields after each try, killed or not: where the machine was quicker than when it was measured,
    the command may have ended first.
    """
    command = [sys.executable, "-m", "lanewright", *argv]
    chance = random.Random(seed)  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as scratch:
        prepare()
        start = time.monotonic()
        process = _start(command, cwd, env, scratch)
        _, talk = process.communicate(timeout=120)
        assert process.returncode == code, talk
        taken = time.monotonic() - start
        for number in range(1, times + 1):
            prepare()
            share = chance.random()
            process = _start(command, cwd, env, scratch)
            try:
                process.communicate(timeout=share * taken)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                while others_run(process.pid):
                    time.sleep(0.01)
                process.communicate()
            yield Killed(number, f"at {share:.2f} of {taken:.1f} s", "")


def _start(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], scratch: str
) -> subprocess.Popen[str]:
    """A session of its own, so that its process group holds what it starts and nothing else."""
    tools = Path(lanewright.__file__).parents[1]
    return subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(tools), "TMPDIR": scratch, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
