"""Why each hunk is what it is: which of upstream's commits, or which other entry, made it so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.carried import Carried
from lanewright.queue.ends import bring_tags, commit_of
from lanewright.queue.pin import Pin
from lanewright.queue.touching import meetings, touches_of
from lanewright.queue.turns import BAD, Turn, turns
from lanewright.store.complaint import RemoteError
from lanewright.store.fetching import fetch_blobs
from lanewright.store.git import Repository
from lanewright.store.history import HistoryError
from lanewright.store.objects import CommitId, File, files, lacking
from lanewright.store.odb import MissingObjectError
from lanewright.store.timeline import Step, way
from lanewright.terminal import say

ASKED = {"conflict", "file missing", "fixed", "fix stale", "landed", "landed changed"}


@dataclass(frozen=True)
class Why:
    """What made a hunk what it is.

    Attributes:
        step: Upstream's part; without a commit where its history does not tell.
        entries: Names of earlier entries that touch the same lines.
    """

    step: Step | None = None
    entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explained:
    """An entry's causes.

    Attributes:
        units: By id, of the hunks that need a word.
        turned: Where on the way the entry stopped merging, and merged again.
        tried: How many of upstream's commits were tried.
        note: Why there is no way to tell, where there is none.
    """

    units: Mapping[str, Why] = field(default_factory=dict)
    turned: tuple[Turn, ...] = ()
    tried: int = 0
    note: str = ""


@dataclass(frozen=True)
class _Asked:
    """An entry that needs a word, and the way from its base to the pin."""

    carried: Carried
    earlier: Sequence[Carried]
    units: frozenset[str]
    steps: Sequence[Step]
    note: str


def explain(
    project: Project,
    places: Places,
    pin: Pin,
    carried: Sequence[Carried],
    lane: Sequence[str],
) -> dict[str, Explained]:
    """The causes of all entries, by name; what upstream's history lacks is fetched at once.

    Args:
        project: The user's project.
        places: The store.
        pin: What the lane stands on.
        carried: What became of each entry, those of the lane in its order.
        lane: Names of those that are the lane's; others are only tried.

    Raises:
        LanewrightError: An object that must be in the store is not.
    """
    wanting = [each for each in carried if _units(each)]
    bring_tags(project, places, [pin, *(e.entry.base for e in wanting if e.entry.base)])
    asked = [_asked(project, places, pin, each, _earlier(carried, lane, each)) for each in wanting]
    asked = _with_contents(project, places, pin, asked)
    repository = Repository(places.objects)
    return {each.carried.entry.name: _explained(repository, pin, each) for each in asked}


def _units(carried: Carried) -> frozenset[str]:
    return frozenset(hunk.id for hunk in carried.entry.hunks if hunk.outcome in ASKED)


def _asked(
    project: Project, places: Places, pin: Pin, carried: Carried, earlier: Sequence[Carried]
) -> _Asked:
    repository = Repository(places.objects)
    paths = _paths(carried, earlier)
    ends = _ends(project, places, pin, carried)
    there = files(repository, pin.tree, paths) if paths else {}
    note = "upstream's history between the two is not in the store"
    if ends:
        try:
            steps = way(repository, *ends, paths, there)
            return _Asked(carried, earlier, _units(carried), steps, "")
        except (HistoryError, MissingObjectError) as error:
            note = str(error)
    return _Asked(carried, earlier, _units(carried), [_nameless(paths, there)], note)


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
    """The files of an entry's chosen units, but those that it has from an entry below it.

    On upstream's way alone, what a stacked pull request stands on is nowhere.
    """
    chosen, pull = carried.chosen, carried.entry.pull
    if chosen is None:
        return []
    below = {
        hunk.path
        for other in earlier
        if pull and other.entry.pull and other.entry.pull.head == pull.base
        for hunk in other.entry.hunks
    }
    taken = [unit.path for unit in chosen.on_base.units if unit.id in chosen.taken]
    return [path for path in dict.fromkeys(taken) if path not in below]


def _nameless(paths: Sequence[str], there: Mapping[str, File]) -> Step:
    """All of the way in one step, of which no commit is known."""
    return Step(None, undone=False, files={path: there.get(path) for path in paths})


def _with_contents(
    project: Project, places: Places, pin: Pin, asked: Sequence[_Asked]
) -> list[_Asked]:
    """The same, with all that the files were on the way in the store, or without the way."""
    repository = Repository(places.objects)
    seen = [f for each in asked for step in each.steps for f in step.files.values() if f]
    absent = lacking(repository, [file.blob for file in seen])
    remote = project.upstream.remote
    if not absent or remote is None:
        return list(asked)
    try:
        fetch_blobs(places, remote, absent)
    except RemoteError as error:
        say(f"upstream's history is not told: {error}")
        return [_without_way(repository, pin, each, str(error)) for each in asked]
    return list(asked)


def _without_way(repository: Repository, pin: Pin, asked: _Asked, note: str) -> _Asked:
    paths = _paths(asked.carried, asked.earlier)
    there = files(repository, pin.tree, paths) if paths else {}
    return replace(asked, steps=[_nameless(paths, there)], note=note)


def _explained(repository: Repository, pin: Pin, asked: _Asked) -> Explained:
    chosen = asked.carried.chosen
    if chosen is None:
        raise LanewrightError(f"{asked.carried.entry.name} has no hunks to explain")
    found = turns(repository, chosen.on_base, chosen.taken, asked.units, asked.steps)
    whys: dict[str, Why] = {}
    for hunk in asked.carried.entry.hunks:
        if hunk.id not in asked.units:
            continue
        since = found.units.get(hunk.id)
        if since and (since[1].outcome in BAD or hunk.outcome in {"landed", "landed changed"}):
            whys[hunk.id] = Why(since[0])
    alone = asked.units - whys.keys()
    if alone:
        whys |= _by_entries(repository, pin, asked, alone)
    turned = () if asked.note else found.entry
    return Explained(whys, turned, found.tried, asked.note)


def _by_entries(
    repository: Repository,
    pin: Pin,
    asked: _Asked,
    units: frozenset[str],
) -> dict[str, Why]:
    """The earlier entries that touch the lines of units which upstream alone leaves in peace."""
    own = touches_of(repository, pin.tree, asked.carried, units)
    met: dict[str, dict[str, None]] = {unit: {} for unit in units}
    for other in asked.earlier:
        for meeting in meetings(own, touches_of(repository, pin.tree, other)):
            met[meeting.one][other.entry.name] = None
    paths = {hunk.id: hunk.path for hunk in asked.carried.entry.hunks}
    return {
        unit: Why(entries=tuple(found) or tuple(_at(asked.earlier, paths[unit])))
        for unit, found in met.items()
    }


def _at(earlier: Sequence[Carried], path: str) -> Iterator[str]:
    """The entries that change a file at all."""
    for other in earlier:
        if path in other.entry.files or any(
            hunk.path == path and hunk.outcome != "not selected" for hunk in other.entry.hunks
        ):
            yield other.entry.name


def _earlier(carried: Sequence[Carried], lane: Sequence[str], asked: Carried) -> Sequence[Carried]:
    """What the lane has before an entry; nothing of one that is only tried."""
    name = asked.entry.name
    before = lane[: lane.index(name)] if name in lane else []
    return [each for each in carried if each.entry.name in before]
