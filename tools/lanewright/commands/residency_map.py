"""``lanewright residency map``: turn a usage map into the file that workers boot from."""

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.residency.usage_map import read_usage_map
from lanewright.serve.usage import usage_lines
from lanewright.store.atomic import replace_file
from lanewright.terminal import emit


def run(_project: Project, _places: Places, arguments: Arguments) -> ExitCode:
    """Write the file and print its name; without ``--out`` print what would be in it.

    Raises:
        LanewrightError: The usage map cannot be read, or the file not be written.
    """
    found = read_usage_map(arguments.usage_map)
    if arguments.out:
        target = arguments.out.absolute()
        try:
            replace_file(target, found.text().encode())
        except OSError as error:
            raise LanewrightError(f"cannot write {target}: {error.strerror}") from error
        emit(str(target))
    elif arguments.json:
        emit(found.text(), always_utf8=True)
    else:
        for line in usage_lines(found.layers):
            emit(line)
    return ExitCode.CLEAN
