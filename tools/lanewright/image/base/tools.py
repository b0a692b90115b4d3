"""The programs that make a base, and how a person gets those that are missing."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.image.tool import run_tool
from lanewright.store.pip import NO_ROOM, no_room

BUILDERS = ("buildah", "podman")
# Where there is another Debian-like system, it may be missing.
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def is_root() -> bool:
    """Whether this is root, or what a user namespace takes for root."""
    return os.geteuid() == 0


def missing_tools() -> list[str]:
    """Debian's packages that are missing for a base to be made here."""
    missing = [] if builder() else [BUILDERS[0]]
    if not shutil.which("mmdebstrap"):
        missing.append("mmdebstrap")
    if not KEYRING.exists():
        missing.append("debian-archive-keyring")
    # An ordinary user has other users' numbers through it.
    if not is_root() and not shutil.which("newuidmap"):
        missing.append("uidmap")
    return missing


def require_tools() -> None:
    """Name all that is missing at once.

    Raises:
        LanewrightError: Something is.
    """
    missing = missing_tools()
    if missing:
        wants = {
            "buildah": "puts the image together (podman does as well)",
            "mmdebstrap": "makes Debian's part",
            "debian-archive-keyring": "has the keys of Debian's archive",
            "uidmap": "lets an ordinary user make both",
        }
        raise LanewrightError(
            "a base image cannot be made here: "
            + "; ".join(f"{name} is missing, which {wants[name]}" for name in missing),
            hint=f"apt-get install -y {' '.join(missing)}",
        )


def builder() -> str | None:
    """What puts an image together here: buildah, else podman."""
    return next((name for name in BUILDERS if shutil.which(name)), None)


def run_step(command: list[str], what: str, environ: Mapping[str, str]) -> None:
    """Run a step of the making; a full disk is told as such.

    Raises:
        LanewrightError: It ends with another status than 0.
    """
    try:
        run_tool(command, what, environ=environ)
    except LanewrightError as error:
        if error.hint is None and no_room([str(error)]):
            raise LanewrightError(str(error), hint=NO_ROOM) from error
        raise
