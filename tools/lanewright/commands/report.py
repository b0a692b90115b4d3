"""``lanewright report``: what becomes of every hunk on the lane's pin, and why."""

import shutil
import sys

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import apply_plan
from lanewright.queue.cause.ends import bring_tags
from lanewright.queue.cause.watching import Watched, try_watched, watched
from lanewright.queue.edit.edited import read_text, series_text
from lanewright.queue.inputs import PullInput
from lanewright.queue.merge.merge import merging
from lanewright.queue.move.stopped import meant_target
from lanewright.queue.move.target import with_target
from lanewright.queue.plan import Plan, pins_of, plan, plan_of
from lanewright.queue.use.claims import require_apart
from lanewright.report.github import report_annotations
from lanewright.report.making import make_report
from lanewright.report.markdown import report_markdown
from lanewright.report.text import report_text
from lanewright.store.bringing import bring
from lanewright.store.complaint import RemoteError
from lanewright.store.diffing import diffing
from lanewright.terminal import emit, emit_json, say
from lanewright.transaction.reading import of_one_state
from lanewright.workflow import harmless

WIDTH = 132


@diffing()
@merging()
def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Try every entry, write nothing, and tell.

    Ends with 3 where one conflicts, and with 1 where they cannot be carried together: two claim
    the same, a rule keeps one out, one lacks what it uses or nothing uses it.
    """
    lane = lane_of(project, arguments)
    planned = _planned(project, places, lane, arguments.to)
    beside = watched(project, places, planned)
    _bring(project, places, planned, beside)
    applied = apply_plan(project, places, planned, tells=True)
    beside = [try_watched(project, places, planned, applied.lock.pin, each) for each in beside]
    report = make_report(project, places, planned, applied, beside)
    match "json" if arguments.json else arguments.format:
        case "json":
            emit_json(report)
        case "markdown":
            emit(harmless(report_markdown(report)), always_utf8=True)
        case "github":
            emit(report_annotations(project, report), always_utf8=True)
        case _:
            width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
            emit(report_text(report, width=width))
    require_apart(planned.inputs)
    if applied.fault:
        raise applied.fault
    return ExitCode.CONFLICT if applied.conflicts else ExitCode.CLEAN


def _planned(project: Project, places: Places, lane: str, to: str | None) -> Plan:
    """The lane as its series has it, or as it would be on another pin."""
    if to is None:
        return plan(project, lane, apart=False)
    text = of_one_state(project, lambda: series_text(project, lane))
    series = read_text(project, lane, text)
    target = meant_target(project, places, lane, series, to)
    moved = read_text(project, lane, with_target(text, series, target))
    return plan_of(project, lane, moved, apart=False)


def _bring(project: Project, places: Places, planned: Plan, beside: list[Watched]) -> None:
    """Have all that the entries need in the store, with as few fetches as can be."""
    pulls = [given for given in planned.inputs if isinstance(given, PullInput)]
    pulls += [each.given for each in beside if each.given]
    pins = [planned.pin.commit] if planned.pin.commit else []
    changes = [(each.base, each.head) for each in pulls]
    if pulls:  # a lane of patches alone is told without history, so it need not fetch one
        releases = [spec.release.version for spec in pins_of(project, planned) if not spec.commit]
        commits = [commit for both in changes for commit in both]
        bring_tags(project, places, releases, [*pins, *commits])
    try:
        bring(places, project.upstream.remote, pins, changes)
    except RemoteError as error:  # what is needed all the same is asked for again, by its name
        say(f"{error}; going on with what the store has")
