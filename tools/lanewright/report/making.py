"""From what became of a lane's entries to the report on it."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import Applied
from lanewright.queue.carried import Carried
from lanewright.queue.cause.ends import commit_of
from lanewright.queue.cause.watching import Watched
from lanewright.queue.cause.whys import Explained, explain
from lanewright.queue.plan import Plan
from lanewright.queue.pull.upkeep import PullStatus, pull_statuses
from lanewright.report.about import About, about_pull, page
from lanewright.report.entries import files_of, next_of, turns_of
from lanewright.report.matrix import clashes_of, matrix_of
from lanewright.report.model import SCHEMA, EntryReport, Report
from lanewright.report.outcome import in_one_line
from lanewright.report.verdict import in_words
from lanewright.store.git import Repository

NOTHING = Explained()


def make_report(
    project: Project, places: Places, planned: Plan, applied: Applied, watched: Sequence[Watched]
) -> Report:
    """Tell what became of every entry, and why.

    Args:
        project: The user's project.
        places: Store and state.
        planned: The lane as its series has it.
        applied: What became of that.
        watched: Pull requests that it watches, tried alone.

    Raises:
        LanewrightError: Something that the lane needs cannot be had.
    """
    lock = applied.lock
    carried = [*applied.carried, *(each.carried for each in watched if each.carried)]
    lane = [each.entry.name for each in applied.carried]
    explained = explain(project, places, lock.pin, carried, lane)
    statuses = {each.number: each for each in pull_statuses(project, places, planned)}
    told = []
    for each in applied.carried:
        pull = each.entry.pull
        entry = _told(project, places, each, explained.get(each.entry.name, NOTHING))
        told.append(
            _of_lane(
                project,
                entry,
                each,
                statuses.get(pull.number) if pull else None,
                list(next_of(project, lock.lane, lock.pin.ref, each)),
            )
        )
    told += [_watched(project, places, lock.lane, each, explained) for each in watched]
    return Report(
        schema=SCHEMA,
        lane=lock.lane,
        on=datetime.now(UTC).date(),
        pin=lock.pin.ref,
        commit=lock.pin.commit,
        upstream=commit_of(project, places, lock.pin),
        distribution=lock.pin.distribution,
        version=lock.pin.version,
        tree=lock.tree,
        complete=not applied.conflicts and applied.fault is None,
        fault=str(applied.fault or ""),
        entries=told,
        clashes=clashes_of(told),
        matrix=matrix_of(Repository(places.objects), lock.pin.tree, carried, told),
    )


def _told(project: Project, places: Places, carried: Carried, explained: Explained) -> EntryReport:
    """What is to be said of an entry, be it the lane's or not."""
    entry, pull = carried.entry, carried.entry.pull
    about = about_pull(project, places, pull.number, pull) if pull else About()
    upstream = page(project)
    base = pull.base if pull else (entry.base.ref if entry.base else "")
    return EntryReport(
        name=entry.name,
        standing="carried",
        kind=entry.kind,
        source=entry.source,
        title=about.title,
        number=pull.number if pull else None,
        state=about.state,
        head=pull.head if pull else None,
        head_date=about.head_date,
        base=base,
        seen=about.seen,
        worth=about.worth,
        verdict=in_words(entry, len(carried.refused)),
        counts=in_one_line(entry),
        open=bool(carried.conflicts),
        claims=entry.claims,
        provides=about.provides,
        outside=pull.outside if pull else 0,
        files=files_of(Repository(places.objects), carried, explained, upstream),
        laid=entry.files,
        turns=turns_of(explained, upstream),
        tried=explained.tried,
        notes=[explained.note] if explained.note else [],
    )


def _of_lane(
    project: Project,
    told: EntryReport,
    carried: Carried,
    status: PullStatus | None,
    commands: list[str],
) -> EntryReport:
    """The same with what only an entry of the lane has."""
    return msgspec.structs.replace(
        told,
        newest=status.newest if status else None,
        fixes=carried.entry.fixes,
        unwritten=[f.file for f in carried.entry.fixes if not (project.root / f.file).exists()],
        unneeded=list(carried.unneeded),
        notes=[*told.notes, *([status.note] if status and status.note else [])],
        next=commands,
    )


def _watched(
    project: Project,
    places: Places,
    lane: str,
    watched: Watched,
    explained: dict[str, Explained],
) -> EntryReport:
    if watched.carried:
        found = explained.get(watched.carried.entry.name, NOTHING)
        told = _told(project, places, watched.carried, found)
        command = f"lanewright add {watched.number}{project.option(lane)}"
        return msgspec.structs.replace(told, standing="watched", next=[command])
    given = watched.given
    about = about_pull(project, places, watched.number, given)
    return EntryReport(
        name=str(watched.number),
        standing="watched",
        kind="pull",
        source=f"#{watched.number}",
        title=about.title,
        number=watched.number,
        state=about.state,
        head=given.head if given else None,
        head_date=about.head_date,
        seen=about.seen,
        worth=about.worth,
        verdict="not tried",
        claims=list(given.claims) if given else about.claims,
        provides=about.provides,
        notes=[watched.why],
        next=[] if given else [f"lanewright fetch {lane}"],
    )
