"""``lanewright rebase``: take lanes to where upstream is now."""

from dataclasses import dataclass, field

from lanewright.cli import Arguments
from lanewright.errors import ConflictError, DriftError, ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import told_conflicts
from lanewright.queue.edit.edited import write_together
from lanewright.queue.move.rebase import Rebased, stays, stops, told_rebase, try_lane
from lanewright.queue.move.stopped import remember, resolve_command
from lanewright.terminal import emit, quoted, say
from lanewright.transaction.editing import editing


@dataclass(frozen=True)
class _Found:
    """What a run came to.

    Attributes:
        lanes: Every lane that was asked for.
        tried: Those whose target and sources could be had.
        failed: The others, and why.
    """

    lanes: list[str]
    tried: list[Rebased] = field(default_factory=list)
    failed: dict[str, LanewrightError] = field(default_factory=dict)


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Try every lane; write those that are clean, together, and tell of the rest."""
    if arguments.check:
        found = _try(project, places, arguments)
        moving = [each.lane for each in found.tried if each.moves]
        if moving and not found.failed:
            lines = [f"would change: {', '.join(moving)}"]
            lines += [told_conflicts(e.tried.applied) for e in found.tried if e.conflicts]
            raise DriftError("\n".join(lines), hint=_without_check(arguments))
        _raise_failed(found)
        say("nothing would change")
        return ExitCode.CLEAN
    with editing(project):
        found = _try(project, places, arguments)
        ready = [each for each in found.tried if arguments.keep_going or not each.conflicts]
        moving_lanes = [each for each in ready if each.moves]
        remember(project, stops(found.tried))
        if moving_lanes:
            what = f"rebase {', '.join(f'{e.lane} to {e.target.pin}' for e in moving_lanes)}"
            write_together(project, places, [each.tried for each in moving_lanes], what=what)
    written = {each.lane for each in moving_lanes}
    for each in found.tried:
        _tell_end(each, written=each.lane in written)
    _raise_conflicts(project, found)
    _raise_failed(found)
    return ExitCode.CLEAN


def _without_check(arguments: Arguments) -> str:
    lane = f" --lane {arguments.lane}" if arguments.lane else ""
    to = f" --to {quoted(arguments.to)}" if arguments.to else ""
    return f"lanewright rebase{lane}{to}"


def _try(project: Project, places: Places, arguments: Arguments) -> _Found:
    found = _Found([arguments.lane] if arguments.lane else project.lanes())
    for lane in found.lanes:
        why = None if arguments.lane else stays(project, lane, arguments.to)
        if why:
            say(f"lane {lane}: stays; {why}")
            continue
        try:
            tried = try_lane(project, places, lane, arguments.to, keep_going=arguments.keep_going)
        except LanewrightError as error:
            found.failed[lane] = error
            continue
        found.tried.append(tried)
        emit("\n".join(told_rebase(project, tried, check=arguments.check)))
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


def _raise_conflicts(project: Project, found: _Found) -> None:
    stopped = [each for each in found.tried if each.conflicts]
    if stopped:
        lines = [told_conflicts(each.tried.applied) for each in stopped]
        lines += [f"lane {lane}: {error}" for lane, error in found.failed.items()]
        first = stopped[0]
        name = first.tried.applied.conflicts[0].entry.name
        command = resolve_command(project, first.lane, name, first.target.pin)
        raise ConflictError("\n".join(lines), hint=command)


def _raise_failed(found: _Found) -> None:
    """One lane's error as it is, those of several as one."""
    errors = list(found.failed.values())
    if len(errors) == 1:
        raise errors[0]
    if errors:
        lines = [f"lane {lane}: {error}" for lane, error in found.failed.items()]
        raise LanewrightError("\n".join(lines), hint=errors[0].hint)
