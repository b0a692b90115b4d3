"""``lanewright resolve``: settle an entry's conflicts by hand."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.carried import told_without
from lanewright.queue.edit.edited import read_text, series_text
from lanewright.queue.fix.resolve import Opened, open_entry, record, waiting
from lanewright.queue.move.stopped import (
    meant_target,
    resolve_command,
    still_in_conflict,
    stopped_at,
)
from lanewright.queue.move.target import with_target
from lanewright.queue.plan import Plan, plan_of
from lanewright.queue.series import load_series
from lanewright.terminal import emit, say
from lanewright.transaction.editing import editing


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Open a work folder, or record what was made of it."""
    lane = lane_of(project, arguments)
    with editing(project):
        planned = _planned(project, places, lane, arguments.to)
        name = arguments.entry or _only(project, places, planned)
        if arguments.done:
            recorded = record(project, places, planned, name)
            still_in_conflict(project, lane, planned.series.pin, recorded.left)
            emit("\n".join(path.relative_to(project.root).as_posix() for path in recorded.files))
            say(f"entry {name} on {planned.series.pin}: {_counted(len(recorded.files))} settled")
            say(f"  next: {_next(project, planned, recorded.left)}")
            return ExitCode.CLEAN
        opened = open_entry(project, places, planned, name, again=arguments.again)
    _say_opened(opened, planned.series.pin)
    command = resolve_command(project, lane, name, planned.series.pin)
    edit = "edit, or delete a file to remove it, then: "
    if len(opened.stale) == len(opened.paths):
        edit = f"if right as it is: {command} --done; else {edit}"
    say(f"  next: {edit}{command} --done")
    emit("\n".join(str(opened.folder / path) for path in opened.paths))
    return ExitCode.CLEAN


def _say_opened(opened: Opened, pin: str) -> None:
    """What lies in the work folder, and why."""
    state = "laid out" if opened.fresh else "still open, as you left it"
    say(f"entry {opened.entry} on {pin}: {_counted(len(opened.paths))} {state}; each side")
    say(f"lies below {opened.folder}/sides: base is what the entry")
    say("was made on, ours is the lane before it, theirs is the entry's own")
    for path in opened.stale:
        say(f"{path}: its fix was merged again without conflict, since a side moved;")
        say("compare it with the sides")
    if opened.without:
        say(told_without(opened.without))


def _counted(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


def _planned(project: Project, places: Places, lane: str, to: str | None) -> Plan:
    """The lane on the pin that is meant: the one named, else where the last rebase stopped."""
    text = series_text(project, lane)
    series = read_text(project, lane, text)
    if to:
        target = meant_target(project, places, lane, series, to)
    else:
        stopped = stopped_at(project, lane)
        if stopped is None:
            return plan_of(project, lane, series)
        target = stopped
    return plan_of(project, lane, read_text(project, lane, with_target(text, series, target)))


def _only(project: Project, places: Places, planned: Plan) -> str:
    """The one entry that waits.

    Raises:
        LanewrightError: None does, or several do.
    """
    names = [each.entry.name for each in waiting(project, places, planned)]
    if len(names) == 1:
        return names[0]
    place = f"lane {planned.lane} on {planned.series.pin}"
    if not names:
        raise LanewrightError(
            f"{place}: nothing waits for a person", hint=f"lanewright report {planned.lane}"
        )
    raise LanewrightError(
        f"{place}: several entries wait: {', '.join(names)}",
        hint=resolve_command(project, planned.lane, names[0], planned.series.pin),
    )


def _next(project: Project, planned: Plan, left: tuple[str, ...]) -> str:
    lane, pin = planned.lane, planned.series.pin
    if left:
        return resolve_command(project, lane, left[0], pin)
    if load_series(project, lane).pin == pin:
        return f"lanewright build {lane}"
    return f"lanewright rebase --lane {lane} --to {pin}"
