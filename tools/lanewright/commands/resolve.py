"""``lanewright resolve``: settle an entry's conflicts by hand."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edited import read_text, series_text
from lanewright.queue.plan import Plan, plan_of
from lanewright.queue.rebase import stopped_at
from lanewright.queue.resolve import open_entry, record, waiting
from lanewright.queue.target import target_of, with_target
from lanewright.terminal import emit, say
from lanewright.transaction.editing import editing


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Open a work folder, or record what was made of it."""
    lane = lane_of(project, arguments)
    with editing(project):
        planned = _planned(project, places, lane, arguments.to)
        name = arguments.entry or _only(project, places, planned)
        if arguments.done:
            written = record(project, places, planned, name)
            emit("\n".join(path.relative_to(project.root).as_posix() for path in written))
            say(f"{name}: {len(written)} fixed; next: {_next(project, lane, planned)}")
            return ExitCode.CLEAN
        opened = open_entry(project, places, planned, name, again=arguments.again)
    state = "laid out" if opened.fresh else "still open, as you left it"
    say(f"{name} on {planned.series.pin}: {len(opened.paths)} files {state}; each side is below")
    say(f"{opened.folder}/sides. Edit them, then: lanewright resolve {name} --done")
    emit("\n".join(str(opened.folder / path) for path in opened.paths))
    return ExitCode.CLEAN


def _planned(project: Project, places: Places, lane: str, to: str | None) -> Plan:
    """The lane on the pin that is meant: the one named, else where the last rebase stopped."""
    text = series_text(project, lane)
    series = read_text(project, lane, text)
    if to:
        target = target_of(project, places, lane, series, to)
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
    raise LanewrightError(
        f"lane {planned.lane} on {planned.series.pin}:"
        f" {f'several entries wait: {chr(44).join(names)}' if names else 'nothing waits'}",
        hint=f"lanewright resolve {names[0]}" if names else f"lanewright report {planned.lane}",
    )


def _next(project: Project, lane: str, planned: Plan) -> str:
    pin = planned.series.pin
    if read_text(project, lane, series_text(project, lane)).pin == pin:
        return f"lanewright build {lane}"
    return f"lanewright rebase --lane {lane} --to {pin}"
