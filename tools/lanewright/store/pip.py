"""Wheels through pip, so that a user's own index, proxy and constraints are followed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from lanewright.errors import LanewrightError, UnreachedError
from lanewright.guarded import guarded
from lanewright.store.scratch import making
from lanewright.store.wheel import WheelError, WheelName, name_of
from lanewright.terminal import stage

NEWEST = re.compile(r"\S+ \(([^()\s]+)\)")
RETRYING = re.compile(r"WARNING: Retrying \(Retry\(")
NO_MATCH = "ERROR: No matching distribution"
# As pip reads it.
YES = frozenset({"y", "yes", "t", "true", "on", "1"})
NO_ROOM = "free some disk space, or name another folder in LANEWRIGHT_STORE, and run again"


class DownloadError(LanewrightError):
    """pip gave no wheel."""


class NoIndexError(DownloadError, UnreachedError):
    """pip reached no package index, or was told to ask none."""


def download(distribution: str, version: str, folder: Path) -> Path:
    """Download one wheel without what it depends on.

    pip's own progress goes to stderr.

    Args:
        distribution: Name on the package index.
        version: Exact version.
        folder: Where the wheel is kept; it appears there whole or not at all.

    Raises:
        DownloadError: No network, no such release, or none for this machine.
    """
    requirement = f"{distribution}=={version}"
    with making(folder) as scratch:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        command += [
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
            str(scratch),
            "--",
            requirement,
        ]
        with stage(f"downloading {requirement}", spinner=False):
            status, lines = _run(command)
        wheels = list(scratch.glob("*.whl"))
        if status or not wheels:
            raise _kind(lines)(
                f"pip could not download {requirement}:\n" + "\n".join(telling(lines)),
                hint=NO_ROOM
                if no_room(lines)
                else "see that pip reaches a package index that has a wheel of it for this machine"
                " (`python -m pip download --no-deps " + requirement + "`), or hand the wheel over:"
                " `lanewright fetch --wheel FILE`",
            )
        wheel = folder / wheels[0].name
        wheels[0].replace(wheel)
        return wheel


def newest(distribution: str) -> str:
    """The newest version of a distribution that pip would choose for this machine.

    Where that has no wheel, ``download`` tells; pip lists versions whatever they come as.

    Raises:
        DownloadError: No network, or no version.
    """
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions"]
    with tempfile.TemporaryFile("w+") as told, stage(f"looking for the newest {distribution}"):
        status, lines = _run([*command, "--", distribution], told)
        told.seek(0)
        found = NEWEST.match(told.readline())
    if status or not found:
        raise _kind(lines)(
            f"pip found no version of {distribution}:\n" + "\n".join(telling(lines)),
            hint="see that pip reaches a package index, or name the version: `--to VERSION`",
        )
    return found[1]


def _run(command: list[str], told: IO[str] | None = None) -> tuple[int, list[str]]:
    """Run pip, its output on our stderr if nowhere else; give back its status and complaints."""
    process = subprocess.Popen(
        guarded(command),
        stdin=subprocess.PIPE,
        stdout=told or sys.stderr or subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    with process:
        lines = [line.rstrip() for line in process.stderr or ()]
    return process.returncode, lines


def _kind(lines: list[str]) -> type[DownloadError]:
    """Whether pip got no answer: it tries again for the network's sake, and for no other."""
    nothing = any(line.startswith(NO_MATCH) for line in lines)
    told_none = nothing and os.environ.get("PIP_NO_INDEX", "").lower() in YES
    unanswered = any(RETRYING.match(line) and "SSLError" not in line for line in lines)
    return NoIndexError if (told_none or unanswered) and not no_room(lines) else DownloadError


def telling(lines: list[str]) -> list[str]:
    """Of pip's complaints, those that tell a person why it failed."""
    errors = [line for line in lines if line.startswith("ERROR:") or "Error" in line]
    retries = [line for line in lines if line.startswith("WARNING: Retrying")]
    return [*retries[-1:], *errors[-4:]] or lines[-4:]


def no_room(lines: list[str]) -> bool:
    """Whether pip failed because the disk is full."""
    return any("No space left on device" in line for line in lines)


def require_suitable(wheel: Path) -> WheelName:
    """What a wheel's name says, if the file is there and for this machine.

    Raises:
        WheelError: It is for another platform, or cannot be read.
    """
    name = name_of(wheel)
    if not wheel.is_file():
        raise WheelError(f"{wheel}: no such file")
    if not name.suits_this_machine:
        raise WheelError(
            f"{wheel.name} is for another platform ({name.tags}); this Python takes none of these",
            hint=f"take the wheel that `python -m pip download --no-deps"
            f" {name.distribution}=={name.version}` chooses here",
        )
    return name


def keep(wheel: Path, folder: Path) -> Path:
    """Copy a wheel that the user has into the store; it appears there whole or not at all."""
    with making(folder) as scratch:
        copy = scratch / wheel.name
        shutil.copyfile(wheel, copy)
        return copy.replace(folder / wheel.name)
