"""The ways of upstream's history from what entries are made on to what a lane stands on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.carried import Carried
from lanewright.queue.cause.ends import commit_of
from lanewright.queue.cause.others import below
from lanewright.queue.lock import Outcome
from lanewright.queue.pin import Pin
from lanewright.store.complaint import RemoteError
from lanewright.store.fetching import fetch_blobs
from lanewright.store.git import GitError, Repository
from lanewright.store.history import HistoryError
from lanewright.store.objects import BlobId, CommitId, File, files, lacking
from lanewright.store.timeline import Step, way
from lanewright.terminal import say

ASKED = {"conflict", "file missing", "fixed", "fix stale", "landed", "landed changed"}


@dataclass(frozen=True)
class Asked:
    """An entry that needs a word, and the way from its base to the pin.

    Attributes:
        carried: What became of it.
        earlier: What the lane has before it.
        units: By id, what became of the hunks that need a word.
        steps: The way.
        note: Why nothing is known of it, where that is so.
    """

    carried: Carried
    earlier: Sequence[Carried]
    units: Mapping[str, Outcome]
    steps: Sequence[Step]
    note: str


def units_of(carried: Carried) -> dict[str, Outcome]:
    """By id, what became of an entry's hunks that need a word."""
    return {hunk.id: hunk.outcome for hunk in carried.entry.hunks if hunk.outcome in ASKED}


def asked_of(
    project: Project, places: Places, pin: Pin, carried: Carried, earlier: Sequence[Carried]
) -> Asked:
    """An entry with the way from its base to the pin, as far as the store knows it.

    Args:
        project: The user's project.
        places: The store.
        pin: What the lane stands on.
        carried: What became of the entry.
        earlier: What the lane has before it.
    """
    if carried.entry.base and carried.entry.base.commit == pin.commit:
        return Asked(carried, earlier, units_of(carried), [], "")  # made on it: there is no way
    repository = Repository(places.objects)
    paths = _paths(carried, earlier)
    ends = _ends(project, places, pin, carried)
    there = files(repository, pin.tree, paths) if paths else {}
    note = "upstream's history between the two is not in the store"
    if ends:
        try:
            steps = way(repository, *ends, paths, there)
            return Asked(carried, earlier, units_of(carried), steps, "")
        except (HistoryError, GitError) as error:
            note = str(error)
    return Asked(carried, earlier, units_of(carried), [_nameless(paths, there)], note)


def _ends(
    project: Project, places: Places, pin: Pin, carried: Carried
) -> tuple[CommitId, CommitId] | None:
    entry = carried.entry
    start: CommitId | None = None
    if entry.pull:
        start = entry.pull.base
    elif entry.base:
        start = commit_of(project, places, entry.base)
    end = commit_of(project, places, pin)
    return (start, end) if start and end else None


def _paths(carried: Carried, earlier: Sequence[Carried]) -> list[str]:
    """The files of an entry's units, but those that it has from an entry below it.

    On upstream's way alone, what a stacked pull request stands on is nowhere.
    """
    chosen = carried.chosen
    if chosen is None:
        return []
    stood_on = {hunk.path for each in below(carried, earlier) for hunk in each.entry.hunks}
    wanted = chosen.taken | units_of(carried).keys()
    taken = [unit.path for unit in chosen.on_base.units if unit.id in wanted]
    return [path for path in dict.fromkeys(taken) if path not in stood_on]


def _nameless(paths: Sequence[str], there: Mapping[str, File]) -> Step:
    """All of the way in one step, of which no commit is known."""
    return Step(None, undone=False, files={path: there.get(path) for path in paths})


def with_contents(
    project: Project, places: Places, pin: Pin, asked: Sequence[Asked]
) -> list[Asked]:
    """The same, with all that the files were on the way in the store, or without the way.

    Args:
        project: The user's project.
        places: The store.
        pin: What the lane stands on.
        asked: Entries, each with its way.
    """
    repository = Repository(places.objects)
    absent = {id(each): _absent(repository, each) for each in asked}
    wanted = [blob for blobs in absent.values() for blob in blobs]
    remote = project.upstream.remote
    if not wanted:
        return list(asked)
    missing = f"the store lacks {len(set(wanted))} of the files' contents on the way"
    note = f"{missing}, and upstream.toml names no git remote to fetch them from"
    if remote:
        try:
            fetch_blobs(places, remote, wanted)
        except RemoteError as error:
            note = str(error)
        else:
            return list(asked)
    say(f"upstream's history is not told: {note}")
    return [
        _without_way(repository, pin, each, note) if absent[id(each)] else each for each in asked
    ]


def _absent(repository: Repository, asked: Asked) -> list[BlobId]:
    """What the store lacks of the files' contents on the way."""
    seen = [file for step in asked.steps for file in step.files.values() if file]
    return lacking(repository, [file.blob for file in seen])


def _without_way(repository: Repository, pin: Pin, asked: Asked, note: str) -> Asked:
    paths = _paths(asked.carried, asked.earlier)
    there = files(repository, pin.tree, paths) if paths else {}
    return replace(asked, steps=[_nameless(paths, there)], note=note)
