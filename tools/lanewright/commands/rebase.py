"""``lanewright rebase``: take lanes to where upstream is now."""

from lanewright.cli import Arguments
from lanewright.errors import ConflictError, DriftError, ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import told_conflicts
from lanewright.queue.edited import write_together
from lanewright.queue.rebase import Rebased, stops, told_rebase, try_lane
from lanewright.queue.stopped import remember, resolve_command
from lanewright.terminal import emit, say
from lanewright.transaction.editing import editing


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Try every lane; write those that are clean, together, and tell of the rest."""
    lanes = [arguments.lane] if arguments.lane else project.lanes()
    if arguments.check:
        found = _try(project, places, lanes, arguments)
        moving = [each.lane for each in found if each.moves]
        if moving:
            raise DriftError(f"would change: {', '.join(moving)}", hint=_without_check(arguments))
        return ExitCode.CLEAN
    with editing(project):
        found = _try(project, places, lanes, arguments)
        ready = [each for each in found if arguments.keep_going or not each.conflicts]
        moving_lanes = [each for each in ready if each.moves]
        remember(project, stops(found))
        if moving_lanes:
            what = f"rebase {', '.join(f'{e.lane} to {e.target.pin}' for e in moving_lanes)}"
            write_together(project, places, [each.tried for each in moving_lanes], what=what)
    for each in found:
        _tell_end(each, written=each in moving_lanes)
    stopped = [each for each in found if each.conflicts]
    if stopped:
        lines = [told_conflicts(each.tried.applied) for each in stopped]
        first = stopped[0]
        name = first.tried.applied.conflicts[0].entry.name
        command = resolve_command(project, first.lane, name, first.target.pin)
        raise ConflictError("\n".join(lines), hint=command)
    return ExitCode.CLEAN


def _without_check(arguments: Arguments) -> str:
    lane = f" --lane {arguments.lane}" if arguments.lane else ""
    to = f" --to {arguments.to}" if arguments.to else ""
    return f"lanewright rebase{lane}{to}"


def _try(project: Project, places: Places, lanes: list[str], arguments: Arguments) -> list[Rebased]:
    found = []
    for lane in lanes:
        keep_going = arguments.keep_going
        found.append(try_lane(project, places, lane, arguments.to, keep_going=keep_going))
        emit("\n".join(told_rebase(project, found[-1])))
    return found


def _tell_end(rebased: Rebased, *, written: bool) -> None:
    lane, pin = rebased.lane, rebased.target.pin
    if written and rebased.conflicts:
        say(f"lane {lane}: on {pin}, without the entries that conflict; they are open in the lock")
    elif written:
        say(f"lane {lane}: on {pin}, lock written (lanewright undo takes it back)")
    elif rebased.conflicts:
        say(f"lane {lane}: stays on {rebased.before}, lock untouched")
    else:
        say(f"lane {lane}: is on {pin} already, lock up to date")
