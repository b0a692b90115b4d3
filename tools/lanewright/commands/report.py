"""``lanewright report``: what becomes of every hunk on the lane's pin."""

import msgspec

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import apply_plan
from lanewright.queue.plan import plan
from lanewright.report.text import report_text
from lanewright.terminal import emit, emit_json


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Try every entry, write nothing, and tell; exit 3 where one conflicts."""
    lane = lane_of(project, arguments)
    applied = apply_plan(project, places, plan(project, lane))
    conflicting = sorted(each.entry.name for each in applied.conflicts)
    if arguments.json:
        data = msgspec.to_builtins(applied.lock) | {"conflicting": conflicting}
        emit_json(data)
    else:
        emit(report_text(applied.lock, conflicting))
    return ExitCode.CONFLICT if conflicting else ExitCode.CLEAN
