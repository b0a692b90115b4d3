"""Programs that others wrote: found, run, and named where they are missing."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.guarded import guarded
from lanewright.terminal import say, stage

SHOWN_LINES = 12


def program(name: str, what: str, otherwise: str = "") -> str:
    """Where a program is.

    Args:
        name: As it is called, and as Debian calls its package.
        what: What it is needed for; begins a sentence.
        otherwise: What could be done instead.

    Raises:
        LanewrightError: It is not on PATH.
    """
    found = shutil.which(name)
    if found is None:
        raise LanewrightError(
            f"{what} takes {name}, and it is not on PATH",
            hint=f"apt-get install {name}" + (f"; or {otherwise}" if otherwise else ""),
        )
    return found


def run_tool(
    command: Sequence[str], what: str, *, environ: Mapping[str, str] | None = None
) -> bytes:
    """Run a program that may take long; what it printed, its last lines shown where it fails.

    Raises:
        LanewrightError: It ends with another status than 0.
    """
    say(f"  {what}")
    with stage(what):
        ended = subprocess.run(
            guarded(list(command)),
            env={**os.environ, **(environ or {})},
            stdin=subprocess.PIPE,
            capture_output=True,
            start_new_session=True,
            check=False,
        )
    if ended.returncode:
        lines = (ended.stderr or ended.stdout).decode(errors="replace").splitlines()
        last = "\n".join(f"  {line}" for line in lines[-SHOWN_LINES:])
        name = Path(command[0]).name
        raise LanewrightError(f"cannot {what}: {name} ended with {ended.returncode}:\n{last}")
    return ended.stdout
