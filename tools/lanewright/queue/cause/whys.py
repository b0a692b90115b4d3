"""Why each hunk is what it is: which of upstream's commits, or which other entry, made it so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.carried import Carried
from lanewright.queue.cause.others import by_entries, earlier_of, lacking_below
from lanewright.queue.cause.turns import BAD, Turn, turns
from lanewright.queue.cause.ways import Asked, asked_of, units_of, with_contents
from lanewright.queue.lock import Outcome
from lanewright.queue.pin import Pin
from lanewright.store.git import Repository
from lanewright.store.timeline import Step


@dataclass(frozen=True)
class Why:
    """What made a hunk what it is.

    Attributes:
        step: Upstream's part; without a commit where its history does not tell.
        became: What the hunk became by that, alone; ``merged`` where it merges alone, and its file
            cannot be merged as a whole; ``not selected`` where it is made on what the lane lacks.
        entries: Names of earlier entries that did, or that it is made on.
    """

    step: Step | None = None
    became: Outcome = "conflict"
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
    wanting = [each for each in carried if units_of(each)]
    asked = [
        asked_of(project, places, pin, each, earlier_of(carried, lane, each)) for each in wanting
    ]
    asked = with_contents(project, places, pin, asked)
    repository = Repository(places.objects)
    return {each.carried.entry.name: _explained(repository, pin, each) for each in asked}


def _explained(repository: Repository, pin: Pin, asked: Asked) -> Explained:
    chosen = asked.carried.chosen
    if chosen is None:
        raise LanewrightError(f"{asked.carried.entry.name} has no hunks to explain")
    found = turns(repository, chosen.on_base, chosen.taken, asked.units, asked.steps)
    whys: dict[str, Why] = {}
    for name, outcome in asked.units.items():
        step, state = found.units.get(name, (None, None))
        if state and (state.outcome in BAD or state.outcome == outcome):
            whys[name] = Why(step, state.outcome)
    alone = asked.units.keys() - whys.keys()
    met = by_entries(repository, pin.tree, asked.carried, asked.earlier, frozenset(alone))
    lacked = lacking_below(asked.carried, asked.earlier)
    for hunk in asked.carried.entry.hunks:
        if hunk.id not in alone:
            continue
        if met[hunk.id]:
            whys[hunk.id] = Why(entries=met[hunk.id])
        elif hunk.path in lacked:
            whys[hunk.id] = Why(became="not selected", entries=lacked[hunk.path])
        elif hunk.outcome != "landed":
            whys[hunk.id] = Why(found.files.get(hunk.path), "merged")
        else:
            whys[hunk.id] = Why()
    turned = () if asked.note else found.entry
    return Explained(whys, turned, found.tried, asked.note)
