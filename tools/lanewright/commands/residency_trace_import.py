"""``lanewright residency trace import``: make a trace of files in another form."""

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.residency.trace_file.imported.forms import read_imported
from lanewright.residency.trace_file.imported.source import Said
from lanewright.residency.trace_file.summary import facts, lines
from lanewright.residency.trace_file.writing import write_trace
from lanewright.terminal import emit


def run(_project: Project | None, _places: Places, arguments: Arguments) -> ExitCode:
    """Write the trace; print what it has.

    Raises:
        LanewrightError: A file is not of its form, or the trace cannot be written.
    """
    target = (arguments.out or arguments.files[0]).absolute()
    said = Said(arguments.model, arguments.experts, arguments.prompts, arguments.length)
    if any(file.absolute() == target for file in arguments.files):
        raise LanewrightError(f"--out {target}: it is one of the files that are read")
    found = read_imported(arguments.files, arguments.form, said)
    write_trace(target, found)
    for line in lines(facts(found)):
        emit(line)
    emit(str(target))
    return ExitCode.CLEAN
