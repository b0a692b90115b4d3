"""Who is told of a night: a command of the project's own, which is given it as JSON."""

import subprocess
import sys
from pathlib import Path

from lanewright.nightly.lines import end_group, how_ended
from lanewright.nightly.night import FILE
from lanewright.terminal import say

SECONDS = 60.0


def notify(command: str, folder: Path, root: Path) -> None:
    """Run a line for sh with the night on its standard input; what fails there fails no night.

    Args:
        command: The line; it runs in the project.
        folder: Of the night.
        root: Of the project.
    """
    # Data goes to standard output, and this is talk.
    talk = subprocess.DEVNULL if sys.stderr is None else 2
    with (folder / FILE).open("rb") as night:
        try:
            process = subprocess.Popen(
                ["sh", "-c", command], stdin=night, stdout=talk, cwd=root, start_new_session=True
            )
        except OSError as error:
            say(f"[nightly] notify: cannot be run: {error}: {command}")
            return
        try:
            status = process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            end_group(process)
            say(f"[nightly] notify: did not end within {SECONDS:.0f} s, and was ended: {command}")
            return
        except BaseException:
            end_group(process)
            raise
    # What it left in the background stays: a mail may be under way.
    if failed := how_ended(status):
        say(f"[nightly] notify: {failed}: {command}")
