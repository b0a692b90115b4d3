"""Who is told of a night: a command of the project's own, which is given it as JSON."""

import os
import subprocess
from pathlib import Path
from typing import BinaryIO

from lanewright.nightly.lines import end_group, how_ended
from lanewright.nightly.night import FILE
from lanewright.terminal import say

SECONDS = 60.0
# Bytes of what it says.
MOST = 2**18


def notify(command: str, folder: Path, root: Path) -> None:
    """Run a line for sh with the night on its standard input; what fails there fails no night.

    Args:
        command: The line; it runs in the project.
        folder: Of the night.
        root: Of the project.
    """
    with (folder / FILE).open("rb") as night, _in_memory() as said:
        try:
            status = _ended(command, night, said, root)
        except OSError as error:
            say(f"[nightly] notify: cannot be run: {error}: {command}")
            return
        finally:
            # Data goes to standard output, and this is talk, of which GitHub takes no command.
            _tell(said)
    if status is None:
        say(f"[nightly] notify: did not end within {SECONDS:.0f} s, and was ended: {command}")
    # What it left in the background stays: a mail may be under way.
    elif failed := how_ended(status):
        say(f"[nightly] notify: {failed}: {command}")


def _in_memory() -> BinaryIO:
    """A file for what it says, which a full disk takes, too."""
    return os.fdopen(os.memfd_create("notify"), "w+b")


def _ended(command: str, night: BinaryIO, said: BinaryIO, root: Path) -> int | None:
    """Run the line to its end; its status, or None where it took too long, and was ended."""
    process = subprocess.Popen(
        ["sh", "-c", command],
        stdin=night,
        stdout=said,
        stderr=said,
        cwd=root,
        start_new_session=True,
    )
    try:
        return process.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        end_group(process)
        return None
    except BaseException:
        end_group(process)
        raise


def _tell(said: BinaryIO) -> None:
    """Say what it said; the end, where that is long."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - MOST))
    for line in said.read(MOST).splitlines():
        say(line.decode("utf-8", "replace"))
