"""What chosen hunks need of their own change that is not chosen: each name, and the closure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from lanewright.queue.choose import with_units
from lanewright.queue.defines import View, defines, lines_of
from lanewright.queue.names import Use
from lanewright.queue.units import OnBase, Unit
from lanewright.store.write import Content

Ids = frozenset[str]
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
    """What is wrong with a choice, and what mends it.

    Attributes:
        lacks: What is missing, in the order of files and lines.
        further: Units to choose too; without any one of them something is missing.
    """

    lacks: tuple[Lack, ...]
    further: tuple[Unit, ...]


@dataclass(frozen=True, eq=False)
class Asked:
    """A choice, and the lane that it is for.

    Attributes:
        on_base: The change.
        taken: The chosen units.
        offered: Those and what could be chosen too.
        final: The lane's tree with all its entries.
        beside: What entries would bring that wait for a person.
    """

    on_base: OnBase
    taken: Ids
    offered: Ids
    final: View
    beside: Sequence[View] = ()

    @cached_property
    def everything(self) -> View:
        """The changed files with all that could be chosen."""
        return view_of(self.on_base, self.offered)

    @cached_property
    def own(self) -> View:
        """The changed files with what is chosen."""
        return view_of(self.on_base, self.taken)

    @cached_property
    def left(self) -> Mapping[str, frozenset[Use]]:
        """Per changed file, the uses that the lane's tree has."""
        found = {path: self.final.names(path) for path in self.on_base.sides}
        return {path: frozenset(map(_bare, names.uses)) for path, names in found.items() if names}


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
    for unit in _units(on_base, grown - taken):
        fewer = grown - together(on_base, [unit])
        if fewer >= taken and not _missing(asked, fewer):
            grown = fewer
    return Closure(tuple(lacks), _units(on_base, grown - taken))


def dependents(asked: Asked, units: Iterable[Unit]) -> tuple[Unit, ...]:
    """These units, and the chosen ones that lack something once they are left out."""
    kept, leaving = asked.taken, list(units)
    while leaving:
        kept -= together(asked.on_base, leaving)
        leaving = [lack.unit for lack in _missing(asked, kept)]
    return _units(asked.on_base, asked.taken - kept)


def _best(asked: Asked, chosen: Ids, lack: Lack) -> Unit:
    """Of the hunks that may give a name, the first that does."""
    for unit in lack.givers:
        more = _missing(asked, chosen | together(asked.on_base, [unit]))
        if (lack.unit.id, lack.use) not in {(each.unit.id, each.use) for each in more}:
            return unit
    return lack.givers[0]


def _missing(asked: Asked, chosen: Ids) -> list[Lack]:
    return list(_lacks(asked, chosen))


def _lacks(asked: Asked, chosen: Ids) -> Iterator[Lack]:
    on_base = asked.on_base
    now = view_of(on_base, chosen)
    for path in on_base.sides:
        added = list(added_lines(on_base, path, chosen))
        names = now.names(path) if added else None
        told: set[tuple[str, Use]] = set()
        for use in names.uses if names else ():
            bare = _bare(use)
            unit = next((unit for first, last, unit in added if first <= use.line <= last), None)
            if unit is None or (unit.id, bare) in told:
                continue
            told.add((unit.id, bare))
            if unit.id in asked.taken and bare not in asked.left.get(path, ()):
                continue  # a fix or upstream itself did away with it
            if _lacking(asked, now, path, use, is_chosen=unit.id in asked.taken):
                givers = _givers(asked, chosen, path, use)
                if givers:
                    yield Lack(unit, use, givers)


def _lacking(asked: Asked, now: View, path: str, use: Use, *, is_chosen: bool) -> bool:
    here = defines(now, path, use)
    if here or not defines(asked.everything, path, use):
        return False
    if any(defines(view, path, use) for view in asked.beside):
        return False
    there = defines(asked.final, path, use)
    if not is_chosen:  # so the lane's tree does not know its scopes
        return here is False and not there
    return there is False or bool(defines(asked.own, path, use))


def _bare(use: Use) -> Use:
    """It, wherever it stands."""
    return replace(use, line=0)


def _givers(asked: Asked, chosen: Ids, path: str, use: Use) -> tuple[Unit, ...]:
    """Those whose lines bind the name come first."""
    where, lines = lines_of(asked.everything, use, path)
    added = list(added_lines(asked.on_base, where, asked.offered)) if where else []
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
