"""``lanewright residency trace show``: what a trace has."""

import json

from lanewright.cli import Arguments
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.residency.trace_file.reading import read_trace
from lanewright.residency.trace_file.summary import facts, lines
from lanewright.terminal import emit


def run(_project: Project | None, _places: Places, arguments: Arguments) -> ExitCode:
    """Print it.

    Raises:
        LanewrightError: It is no trace.
    """
    told = facts(read_trace(arguments.trace_file))
    if arguments.json:
        emit(json.dumps(told, indent=2), always_utf8=True)
    else:
        for line in lines(told):
            emit(line)
    return ExitCode.CLEAN
