"""What chosen hunks need of their own change that is not chosen: the smallest closure."""

from collections.abc import Iterable
from dataclasses import dataclass

from lanewright.queue.closure.asked import Asked, Ids, of_ids, together
from lanewright.queue.closure.given_back import given_back
from lanewright.queue.closure.lacks import Lack, lacks
from lanewright.queue.closure.names import Use
from lanewright.queue.closure.removed import removals
from lanewright.queue.merge.units import Unit


@dataclass(frozen=True)
class Closure:
    """What is wrong with a choice, and what mends it.

    Attributes:
        lacks: What is missing, in the order of files and lines.
        further: Units to choose too; without any one of them something is missing.
    """

    lacks: tuple[Lack, ...]
    further: tuple[Unit, ...]


def closure_of(asked: Asked) -> Closure | None:
    """What a choice lacks; None where it is closed."""
    on_base, taken = asked.on_base, asked.taken
    if taken >= asked.offered or not taken:
        return None
    lacks = _missing(asked, taken)
    if not lacks:
        return None
    grown, wanting = taken, lacks
    while wanting:
        grown |= together(on_base, [_best(asked, grown, wanting[0])])
        wanting = _missing(asked, grown)
    for unit in of_ids(on_base, grown - taken):
        fewer = grown - together(on_base, [unit])
        if fewer >= taken and not _missing(asked, fewer):
            grown = fewer
    return Closure(tuple(lacks), of_ids(on_base, grown - taken))


def dependents(asked: Asked, units: Iterable[Unit]) -> tuple[Unit, ...]:
    """These units, and the chosen ones that lack something once they are left out."""
    kept, leaving = asked.taken, list(units)
    while leaving:
        kept -= together(asked.on_base, leaving)
        leaving = [lack.unit for lack in _missing(asked, kept)]
    return of_ids(asked.on_base, asked.taken - kept)


def _best(asked: Asked, chosen: Ids, lack: Lack) -> Unit:
    """Of the hunks that may give a name, the first that does."""
    for unit in lack.givers:
        more = _missing(asked, chosen | together(asked.on_base, [unit]))
        if _key(lack) not in map(_key, more):
            return unit
    return lack.givers[0]


def _missing(asked: Asked, chosen: Ids) -> list[Lack]:
    return [*lacks(asked, chosen), *removals(asked, chosen), *given_back(asked, chosen)]


def _key(lack: Lack) -> tuple[str, str, Use]:
    return lack.unit.id, lack.path, lack.use
