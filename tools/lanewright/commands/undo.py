"""``lanewright undo``: take back the last edit of the project."""

from lanewright.cli import Arguments
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.terminal import emit, say
from lanewright.transaction.replace import undo


def run(project: Project, _places: Places, _arguments: Arguments) -> ExitCode:
    """Put the files back as they were before; print which."""
    what, files = undo(project)
    say(f"taken back: {what} (once more brings it again)")
    emit("\n".join(file.relative_to(project.root).as_posix() for file in files))
    return ExitCode.CLEAN
