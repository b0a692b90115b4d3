"""Programs that others wrote: found, run, and named where they are missing."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from re import Pattern
from tempfile import TemporaryFile
from typing import IO

from lanewright.errors import LanewrightError, UnreachedError
from lanewright.guarded import ended, guarded
from lanewright.terminal import quoted, say, stage

SHOWN_LINES = 12
# Of an engine that only looks something up.
ANSWER_SECONDS = 60.0


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
    command: Sequence[str],
    what: str,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    seconds: float | None = None,
    unreached: Pattern[str] | None = None,
) -> bytes:
    """Run a program that may take long; what it printed, its last lines shown where it fails.

    Args:
        command: It and its words.
        what: What it is to do, for messages.
        environ: Variables beside this process's.
        folder: In which it runs.
        seconds: How long it may take; None waits.
        unreached: What it says where the network is at fault.

    Raises:
        UnreachedError: It said so.
        LanewrightError: It ends with another status than 0, or not within some seconds.
    """
    say(f"  {what}")
    with stage(what), TemporaryFile() as out, TemporaryFile() as errors:
        # Its standard input stays open: the guard ends it when that closes.
        with subprocess.Popen(
            guarded(list(command)),
            env={**os.environ, **(environ or {})},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=errors,
            start_new_session=True,
        ) as running:
            try:
                status = running.wait(seconds)
            except subprocess.TimeoutExpired as error:
                # Leaving closes the guard's input.
                raise LanewrightError(
                    f"cannot {what}: {Path(command[0]).name} did not end within {seconds:g} s"
                ) from error
        printed, said = (_whole(stream) for stream in (out, errors))
    if status:
        lines = (said or printed).decode(errors="replace").splitlines()
        last = "\n".join(f"  {line}" for line in lines[-SHOWN_LINES:])
        found = unreached and any(unreached.search(line) for line in lines[-SHOWN_LINES:])
        kind = UnreachedError if found else LanewrightError
        raise kind(f"cannot {what}: {Path(command[0]).name} {ended(status)}:\n{last}")
    return printed


def asked(
    command: Sequence[str | Path], *, seconds: float | None = None
) -> "subprocess.CompletedProcess[str]":
    """Ask a program that answers at once, whatever that is; what is no UTF-8 in it is replaced.

    Args:
        command: It and its words.
        seconds: How long it may take; None waits.

    Raises:
        LanewrightError: It took longer, or cannot be started.
    """
    told = " ".join(map(quoted, [Path(command[0]).name, *command[1:]]))
    # No pipe: what it leaves behind would hold that open.
    with TemporaryFile() as out, TemporaryFile() as errors:
        try:
            status = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                check=False,
                timeout=seconds,
            ).returncode
        except subprocess.TimeoutExpired as error:
            raise LanewrightError(f"`{told}` gave no answer within {seconds:g} s") from error
        except OSError as error:
            raise LanewrightError(f"`{told}` cannot be run: {error.strerror}") from error
        printed, said = (_whole(stream).decode(errors="replace") for stream in (out, errors))
    return subprocess.CompletedProcess(command, status, printed, said)


def _whole(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()
