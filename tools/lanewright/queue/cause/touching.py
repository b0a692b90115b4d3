"""Which lines of a tree the hunks of entries touch, and where two entries touch the same ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanewright.queue.carried import Carried
from lanewright.queue.cause.spans import spans_of
from lanewright.queue.cause.zones import Alignment
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.store.git import Repository
from lanewright.store.objects import File, TreeId, files

WHOLE = (0, 1 << 40)
MODE = (-1, -1)


@dataclass(frozen=True)
class Touch:
    """Lines that a unit touches: 0-based, up to but without ``end``; an insertion has none.

    Attributes:
        unit: Its id; of an overlay, empty.
        start: The first, or where lines come in.
        end: The one after the last.
        brings: What stands there afterwards, where it is lines.
    """

    unit: str
    start: int
    end: int
    brings: tuple[bytes, ...] | None = None


@dataclass(frozen=True)
class Meeting:
    """Two units that touch the same lines of a file, or lines right beside each other."""

    path: str
    one: str
    other: str


Touches = Mapping[str, Sequence[Touch]]


def touches(
    repository: Repository, on_base: OnBase, chosen: frozenset[str], onto: Mapping[str, File]
) -> dict[str, list[Touch]]:
    """Per file, what the chosen units touch of it where it is merged onto, in order of lines.

    Args:
        repository: The store.
        on_base: The change.
        chosen: Ids of its units.
        onto: The files that they are merged onto.
    """
    edited = {unit.path for unit in on_base.units if unit.hunk and unit.id in chosen}
    moved = {
        path: (side, onto[path])
        for path, side in on_base.sides.items()
        if side and path in edited and path in onto and onto[path].blob != side.blob
    }
    aligned = {path: Alignment(spans) for path, spans in spans_of(repository, moved).items()}
    found: dict[str, list[Touch]] = {}
    for unit in on_base.units:
        if unit.id in chosen:
            here = bool(on_base.sides[unit.path]) and unit.path in onto
            found.setdefault(unit.path, []).append(_touch(unit, aligned.get(unit.path), here=here))
    return {path: sorted(each, key=lambda touch: touch.start) for path, each in found.items()}


def touches_of(
    repository: Repository,
    tree: TreeId,
    carried: Carried,
    only: frozenset[str] | None = None,
) -> dict[str, list[Touch]]:
    """What an entry touches of a tree that it is merged onto, or some of its units do."""
    chosen = carried.chosen
    if chosen is None:
        return {path: [Touch("", *WHOLE)] for path in carried.entry.files}
    taken = chosen.taken if only is None else only
    onto = files(repository, tree, chosen.on_base.sides)
    return touches(repository, chosen.on_base, taken, onto)


def _touch(unit: Unit, aligned: Alignment | None, *, here: bool) -> Touch:
    if unit.lines == "mode":
        return Touch(unit.id, *MODE)
    if unit.hunk is None or not here:
        return Touch(unit.id, *WHOLE)
    lines = (unit.hunk.first_change, unit.hunk.last_change)
    start, end = aligned.zone(*lines).ours if aligned else lines
    return Touch(unit.id, start, end, unit.hunk.replacement)


def meetings(one: Touches, other: Touches, *, alike: bool = False) -> Iterator[Meeting]:
    """Where two entries touch the same lines.

    Args:
        one: What the one touches.
        other: What the other does.
        alike: Whether those are wanted at which both bring the same, which is no clash, or the
            rest.
    """
    for path in one.keys() & other.keys():
        waiting = list(other[path])
        for touch in one[path]:
            waiting = [each for each in waiting if each.end >= touch.start]
            for each in waiting:
                if each.start > touch.end:
                    break
                same = touch.brings is not None and touch.brings == each.brings
                same_place = (touch.start, touch.end) == (each.start, each.end)
                if (same and same_place) == alike:
                    yield Meeting(path, touch.unit, each.unit)
