"""``lanewright add``: carry a pull request, a file of it, or a hunk; or move it to its new head."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ConflictError, ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import told_conflicts
from lanewright.queue.closure.unclosed import ClosureError
from lanewright.queue.edit.adding import Edited, added
from lanewright.queue.edit.edited import Tried, read_text, series_text, try_text, write_together
from lanewright.queue.edit.selection import read_part
from lanewright.queue.edit.unpinned import write_unpinned
from lanewright.queue.guard.guard_error import GuardError
from lanewright.queue.move.held import keep_held
from lanewright.queue.move.stopped import resolve_command
from lanewright.queue.use.claims import ClaimError
from lanewright.queue.use.unused import DeadWeightError
from lanewright.report.outcome import in_one_line
from lanewright.terminal import emit, quoted, say
from lanewright.transaction.editing import editing


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Edit the series and apply it; a series that conflicts is written, its lock is not."""
    lane = lane_of(project, arguments)
    parts = [read_part(each) for each in arguments.parts]
    words = ", ".join(map(str, parts))
    what = f"add {words} to {lane}"
    with editing(project):
        text = series_text(project, lane)
        edited = added(
            project, places, lane, text, parts, update=arguments.update, allow=arguments.allow
        )
        for line in edited.told:
            say(line)
        if edited.text == text and arguments.update:
            return ExitCode.CLEAN
        series = read_text(project, lane, edited.text)
        if write_unpinned(project, lane, edited.text, series, what=what):
            return ExitCode.CLEAN
        tried = _tried(project, places, lane, edited, arguments)
        clean = not tried.applied.conflicts
        if edited.text == text:
            raise LanewrightError(f"lane {lane}: {words} is where it was; nothing to add")
        write_together(project, places, [tried], what=what, with_locks=clean)
        keep_held(project, lane, [each.entry.name for each in tried.applied.conflicts])
    for entry in tried.applied.lock.entries:
        if entry.name in edited.entries:
            emit(f"{entry.name} ({entry.source}): {in_one_line(entry)}")
    if not clean:
        name = tried.applied.conflicts[0].entry.name
        raise ConflictError(
            f"{told_conflicts(tried.applied)}\nthe series says so now; its lock stays as it was",
            hint=f"{resolve_command(project, lane, name, tried.planned.series.pin)}, or take it"
            " back: lanewright undo",
        )
    return ExitCode.CLEAN


def _tried(
    project: Project, places: Places, lane: str, edited: Edited, arguments: Arguments
) -> Tried:
    """The series as it will be, applied; an error says what to type instead."""
    typed = arguments.parts
    allowed = "".join(f" --allow {quoted(name)}" for name in arguments.allow)
    of_lane = project.option(lane)
    option = f"{allowed}{' --update' if arguments.update else ''}{of_lane}"
    try:
        return try_text(project, places, lane, edited.text)
    except ClaimError as error:
        raise error.of_add(typed, edited.entries, option, of_lane) from error
    except ClosureError as error:
        raise error.of_edit("add", typed, error.further, option) from error
    except GuardError as error:
        raise error.of_add(typed, option, update=arguments.update) from error
    except DeadWeightError as error:
        raise error.of_edit("add", typed) from error
