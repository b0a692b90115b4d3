"""What chosen hunks need of their own change that is not chosen: each name, and the closure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

from lanewright.queue.choose import with_units
from lanewright.queue.defines import View, defines, lines_of
from lanewright.queue.names import Use
from lanewright.queue.units import OnBase, Unit
from lanewright.store.write import Content

Ids = frozenset[str]
Missing = Callable[[Ids], "list[Lack]"]
LAST = 1 << 30


@dataclass(frozen=True)
class Lack:
    """A chosen hunk that uses what only hunks define which are not chosen.

    Attributes:
        unit: The hunk.
        use: What it uses, and on which line of its file as the chosen hunks make it.
        givers: Hunks of which one at least is needed for it.
    """

    unit: Unit
    use: Use
    givers: tuple[Unit, ...]


@dataclass(frozen=True)
class Closure:
    """What is wrong with a choice, and two ways out.

    Attributes:
        lacks: What is missing, in the order of files and lines.
        further: The fewest units to choose too.
        users: The units to leave out instead.
    """

    lacks: tuple[Lack, ...]
    further: tuple[Unit, ...]
    users: tuple[Unit, ...]


def closure_of(
    on_base: OnBase, taken: Ids, offered: Ids, final: View, beside: Sequence[View] = ()
) -> Closure | None:
    """What a choice lacks; None where it is closed.

    Args:
        on_base: The change.
        taken: The chosen units.
        offered: Those and what could be chosen too.
        final: The lane's tree with all its entries.
        beside: What entries would bring that wait for a person.
    """
    if taken >= offered or not taken:
        return None
    everything = view_of(on_base, offered)

    @cache
    def missing(chosen: Ids) -> list[Lack]:
        return list(_lacks(on_base, chosen, taken, offered, everything, final, beside))

    lacks = missing(taken)
    if not lacks:
        return None
    grown, wanting = taken, lacks
    while wanting:
        grown |= together(on_base, [_best(on_base, grown, wanting[0], missing)])
        wanting = missing(grown)
    for unit in _units(on_base, grown - taken):
        fewer = grown - together(on_base, [unit])
        if fewer >= taken and not missing(fewer):
            grown = fewer
    kept, wanting = taken, lacks
    while wanting:
        kept -= together(on_base, [lack.unit for lack in wanting])
        wanting = missing(kept)
    return Closure(tuple(lacks), _units(on_base, grown - taken), _units(on_base, taken - kept))


def _best(on_base: OnBase, chosen: Ids, lack: Lack, missing: Missing) -> Unit:
    """Of the hunks that may give a name, the first that does."""
    for unit in lack.givers:
        more = missing(chosen | together(on_base, [unit]))
        if (lack.unit.id, lack.use) not in {(each.unit.id, each.use) for each in more}:
            return unit
    return lack.givers[0]


def _lacks(
    on_base: OnBase,
    chosen: Ids,
    taken: Ids,
    offered: Ids,
    everything: View,
    final: View,
    beside: Sequence[View],
) -> Iterator[Lack]:
    now = view_of(on_base, chosen)
    for path in on_base.sides:
        added = list(added_lines(on_base, path, chosen))
        names = now.names(path) if added else None
        built = final.names(path)
        left = {replace(use, line=0) for use in built.uses} if built else set()
        told: set[tuple[str, Use]] = set()
        for use in names.uses if names else ():
            bare = replace(use, line=0)
            unit = next((unit for first, last, unit in added if first <= use.line <= last), None)
            if unit is None or (unit.id, bare) in told:
                continue
            if unit.id in taken and bare not in left:
                continue  # a fix or upstream itself did away with it
            told.add((unit.id, bare))
            here = defines(now, path, use)
            if here or not defines(everything, path, use):
                continue
            there = defines(final, path, use)
            lacks = there is False if unit.id in taken else here is False and not there
            if not lacks or any(defines(view, path, use) for view in beside):
                continue
            givers = _givers(on_base, chosen, offered, everything, path, use)
            if givers:
                yield Lack(unit, use, givers)


def _givers(
    on_base: OnBase, chosen: Ids, offered: Ids, everything: View, path: str, use: Use
) -> tuple[Unit, ...]:
    """Those whose lines bind the name come first."""
    where, lines = lines_of(everything, use, path)
    added = list(added_lines(on_base, where, offered)) if where else []
    direct = [unit for first, last, unit in added if any(first <= n <= last for n in lines)]
    rest = [unit for _, _, unit in added]
    listed = dict.fromkeys(chain(direct, rest))
    return tuple(unit for unit in listed if unit.id not in chosen)


def added_lines(on_base: OnBase, path: str, chosen: Ids) -> Iterator[tuple[int, int, Unit]]:
    """The lines, 1-based, of a file with some units that each of those brings."""
    moved = 0
    for unit in on_base.units:
        if unit.path != path or unit.id not in chosen:
            continue
        hunk = unit.hunk
        if hunk is None:
            if unit.lines == "whole" or on_base.sides[path] is None:
                yield 1, LAST, unit
            continue
        first = hunk.first_change + moved
        moved += len(hunk.new) - len(hunk.old)
        if hunk.replacement:
            yield first + 1, first + len(hunk.replacement), unit


def view_of(on_base: OnBase, chosen: Ids) -> View:
    """The changed files on the change's base, with some of its units."""
    base = {
        path: Content(side.mode, b"".join(on_base.contents[path]))
        for path, side in on_base.sides.items()
        if side
    }
    files = {path: file for path, file in {**base, **with_units(on_base, chosen)}.items() if file}
    return View(files, lambda path: files[path].raw)


def together(on_base: OnBase, units: Iterable[Unit]) -> Ids:
    """Ids of these units, and of all of both names of the renamed files among them."""
    ids = frozenset(unit.id for unit in units)
    paths = {unit.path for unit in on_base.units if unit.id in ids}
    both = {
        name
        for file in on_base.diff.files
        if file.partner and file.path in paths
        for name in (file.path, file.partner)
    }
    return ids | {unit.id for unit in on_base.units if unit.path in both}


def _units(on_base: OnBase, ids: Ids) -> tuple[Unit, ...]:
    return tuple(unit for unit in on_base.units if unit.id in ids)
