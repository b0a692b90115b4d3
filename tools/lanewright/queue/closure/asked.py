"""A choice that is asked about, and its change's files with some of the hunks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lanewright.queue.closure.defines import defines
from lanewright.queue.closure.names import Names, Use
from lanewright.queue.closure.view import View, set_outside, word
from lanewright.queue.merge.choose import with_units
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.store.write import Content

Ids = frozenset[str]
LAST = 1 << 30


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
    def base(self) -> View:
        """The changed files without any of the change."""
        return view_of(self.on_base, frozenset())

    @cached_property
    def own(self) -> View:
        """The changed files with what is chosen."""
        return view_of(self.on_base, self.taken)

    def in_lane(self, path: str, use: Use) -> bool | None:
        """Whether the lane's tree defines what a file of it uses; an attribute, from any file."""
        found = defines(self.final, path, use)
        of_module = not use.scope or self.final.has(".".join([use.module, *use.scope]))
        if found is not False or use.kind != "attribute" or of_module:
            return found
        if set_outside(self.final, use.name):
            return None
        below = self.final.mentioning(word(use.name), word(use.scope[-1]))
        return defines(replace(self.final, changed=[where for where, _ in below]), path, use)

    def left(self, path: str) -> frozenset[Use]:
        """The uses that a changed file has in the lane's tree."""
        return bare_uses(self.final.names(path))


def bare_uses(names: Names | None) -> frozenset[Use]:
    """What a file uses, wherever it stands there."""
    return names.bare if names else frozenset()


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


def removed_lines(on_base: OnBase, path: str, chosen: Ids) -> Iterator[tuple[int, int, Unit]]:
    """The lines, 1-based, of a file on the base that each of some units takes away or replaces."""
    for unit in on_base.units:
        if unit.path != path or unit.id not in chosen:
            continue
        if unit.hunk is None:
            if unit.lines in {"whole", "file"}:
                yield 1, LAST, unit
        elif unit.hunk.last_change > unit.hunk.first_change:
            yield unit.hunk.first_change + 1, unit.hunk.last_change, unit


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


def of_ids(on_base: OnBase, ids: Ids) -> tuple[Unit, ...]:
    """The units of these ids, in file order."""
    return tuple(unit for unit in on_base.units if unit.id in ids)
