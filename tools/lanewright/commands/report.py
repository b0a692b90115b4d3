"""``lanewright report``: what becomes of every hunk on the lane's pin."""

import msgspec

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import apply_plan
from lanewright.queue.plan import plan
from lanewright.queue.upkeep import pull_statuses
from lanewright.report.text import report_text
from lanewright.report.verdict import in_words
from lanewright.terminal import emit, emit_json


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Try every entry, write nothing, and tell; exit 3 where one conflicts."""
    lane = lane_of(project, arguments)
    planned = plan(project, lane)
    applied = apply_plan(project, places, planned)
    if arguments.json:
        data = msgspec.to_builtins(applied.lock)
        data["conflicting"] = sorted(each.entry.name for each in applied.conflicts)
        data["verdicts"] = {entry.name: in_words(entry) for entry in applied.lock.entries}
        data["unneeded_fixes"] = [file for each in applied.carried for file in each.unneeded]
        emit_json(data)
    else:
        titles = {s.number: s.title for s in pull_statuses(project, places, planned) if s.title}
        emit(report_text(applied, titles, project.option(lane)))
    return ExitCode.CONFLICT if applied.conflicts else ExitCode.CLEAN
