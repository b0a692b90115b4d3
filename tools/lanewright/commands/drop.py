"""``lanewright drop``: carry an entry, a file or a hunk of it no more, or record that it landed."""

from collections.abc import Sequence

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ConflictError, ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import told_conflicts
from lanewright.queue.closure.unclosed import ClosureError
from lanewright.queue.edit.dropping import dropped, recorded_landed, require_landed
from lanewright.queue.edit.edited import Tried, read_text, series_text, try_text, write_together
from lanewright.queue.edit.selection import Part, read_part
from lanewright.queue.edit.unpinned import write_unpinned
from lanewright.queue.fix.workfolder import work_folder
from lanewright.queue.guard.guard_error import GuardError
from lanewright.queue.move.held import keep_held
from lanewright.queue.move.stopped import resolve_command
from lanewright.queue.use.unused import DeadWeightError
from lanewright.report.outcome import in_one_line
from lanewright.terminal import emit, quoted, say
from lanewright.transaction.editing import editing


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Edit the series and apply it; a series that conflicts is written, its lock is not."""
    lane = lane_of(project, arguments)
    parts = [read_part(each) for each in arguments.parts]
    words = ", ".join(map(str, parts))
    what = f"drop {words} from {lane}"
    with editing(project):
        edit = recorded_landed if arguments.landed else dropped
        text = series_text(project, lane)
        for part in parts:
            text = edit(project, places, lane, text, part)
        if write_unpinned(project, lane, text, read_text(project, lane, text), what=what):
            return ExitCode.CLEAN
        try:
            tried = try_text(project, places, lane, text)
        except ClosureError as error:
            option = f"{' --landed' if arguments.landed else ''}{project.option(lane)}"
            raise error.of_edit("drop", arguments.parts, error.users, option) from error
        except GuardError as error:
            if arguments.landed:
                raise
            raise error.of_drop(arguments.parts, project.option(lane)) from error
        except DeadWeightError as error:
            raise error.of_edit("drop", arguments.parts) from error
        if arguments.landed:
            require_landed(project, places, tried, parts)
        clean = not tried.applied.conflicts
        write_together(project, places, [tried], what=what, with_locks=clean)
        keep_held(project, lane, [each.entry.name for each in tried.applied.conflicts])
    say(f"lane {lane}: {'recorded as landed' if arguments.landed else 'dropped'}: {words}")
    _say_left(project, lane, tried, parts)
    for entry in tried.applied.lock.entries:
        emit(f"{entry.name} ({entry.source}): {in_one_line(entry)}")
    if not clean:
        name = tried.applied.conflicts[0].entry.name
        raise ConflictError(
            f"{told_conflicts(tried.applied)}\nthe series says so now; its lock stays as it was",
            hint=resolve_command(project, lane, name, tried.planned.series.pin),
        )
    return ExitCode.CLEAN


def _say_left(project: Project, lane: str, tried: Tried, parts: Sequence[Part]) -> None:
    """Name the work folders of entries that are gone: a person's edits are not thrown away."""
    carried = {given.name for given in tried.planned.inputs}
    for part in parts:
        folder = work_folder(project, lane, part.entry)
        if part.entry not in carried and folder.exists():
            say(f"its work folder stays, with what you edited there: rm -r {quoted(folder)}")
