"""``lanewright list``: the lanes, or what one of them carries."""

from lanewright.cli import Arguments
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import load_series, name_of
from lanewright.terminal import emit, emit_json


def run(project: Project, _places: Places, arguments: Arguments) -> ExitCode:
    """Print every lane, or the entries of one, from the series alone."""
    lanes = [arguments.lane] if arguments.lane else project.lanes()
    found = {lane: load_series(project, lane) for lane in lanes}
    if arguments.json:
        emit_json(found)
        return ExitCode.CLEAN
    for lane, series in found.items():
        emit(f"{lane}  {series.pin}  {series.title}")
        for entry in series.entry:
            kind = "overlay" if entry.overlay else "patch"
            if entry.pull is not None:
                kind = f"#{entry.pull} at {(entry.head or '')[:12]}"
            parts = f"  {', '.join(entry.select)}" if entry.select else ""
            emit(f"  {name_of(entry)}  {kind}{parts}")
    return ExitCode.CLEAN
