"""What a lane carries, in the smallest parts that can be left out, and a plan with some of them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import msgspec

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import change_of
from lanewright.queue.edit.selection import Part
from lanewright.queue.inputs import ChangeInput, Input, OverlayInput
from lanewright.queue.lock import Lock
from lanewright.queue.merge.choose import choose, recorded_units
from lanewright.queue.merge.units import OnBase, Unit, read_on_base
from lanewright.queue.plan import Plan
from lanewright.store.git import Repository


@dataclass(frozen=True)
class Piece:
    """A hunk, both names of a renamed file, or an overlay.

    Attributes:
        part: What it is called.
        select: Its hunks as a series selects them; an overlay has none.
        landed: Those of them that a person took for landed with edits.
    """

    part: Part
    select: tuple[str, ...] = ()
    landed: tuple[str, ...] = ()

    @property
    def hunks(self) -> tuple[str, ...]:
        """Ids of its hunks."""
        return tuple(name.rpartition(":")[2] for name in self.select)

    def is_among(self, names: Collection[str]) -> bool:
        """Whether a hunk of it is one of these, named as ``drop`` takes them."""
        return any(f"{self.part.entry}:{name}" in names for name in self.select)


Pieces = tuple[Piece, ...]


def pieces_of(project: Project, places: Places, planned: Plan, lock: Lock) -> Pieces:
    """All that a lane is made of beside its pin, in order; an entry in conflict is no part of it.

    Raises:
        LanewrightError: A source cannot be had.
    """
    repository = Repository(places.objects)
    waiting = {entry.name for entry in lock.entries if any(hunk.open for hunk in entry.hunks)}
    found: list[Piece] = []
    for given in planned.inputs:
        if given.name in waiting:
            continue
        if isinstance(given, OverlayInput):
            found.append(Piece(Part(given.name)))
            continue
        change, _ = change_of(project, places, planned, given)
        on_base = read_on_base(repository, change.diff, change.base, change.base_name)
        found += _of_change(given, on_base)
    return tuple(found)


def _of_change(given: ChangeInput, on_base: OnBase) -> Iterator[Piece]:
    place = f"{given.place} ({given.name})"
    chosen = choose(on_base, given.choice, place)
    landed = recorded_units(on_base, given.choice, chosen, place)
    units = [unit for unit in on_base.units if unit.id in chosen]
    names = {} if given.choice.split else _renamed(on_base)
    for new in dict.fromkeys(names.values()):
        both = [unit for unit in units if names.get(unit.path) == new]
        if both:
            yield _piece(Part(given.name, new), both, landed)
    for unit in units:
        if unit.path not in names:
            yield _piece(Part(given.name, unit.path, unit.id), [unit], landed)


def _renamed(on_base: OnBase) -> dict[str, str]:
    """The new name of every renamed file, by both of its names."""
    moved = [file for file in on_base.diff.files if file.partner and file.new_mode]
    return {name: file.path for file in moved for name in (file.path, file.partner) if name}


def _piece(part: Part, units: Sequence[Unit], landed: Collection[str]) -> Piece:
    names = {unit.id: f"{unit.path}:{unit.id}" for unit in units}
    return Piece(part, tuple(names.values()), tuple(n for i, n in names.items() if i in landed))


def with_pieces(planned: Plan, pieces: Pieces, kept: Iterable[Piece]) -> Plan:
    """A plan that carries only some pieces, for a look: it asks for no layer."""
    wanted = frozenset(kept)
    inputs: list[Input] = []
    for given in planned.inputs:
        own = [piece for piece in pieces if piece.part.entry == given.name]
        left = [piece for piece in own if piece in wanted]
        if left == own or isinstance(given, OverlayInput):
            inputs += [given] if left else []
        elif left:
            select = tuple(name for piece in left for name in piece.select)
            landed = tuple(name for piece in left for name in piece.landed)
            choice = replace(given.choice, select=select, landed=landed)
            inputs.append(replace(given, choice=choice))
    series = msgspec.structs.replace(planned.series, image=None)
    return replace(planned, series=series, inputs=tuple(inputs))


def by_entry(pieces: Pieces) -> list[Pieces]:
    """Pieces of one entry together."""
    return [tuple(own) for _, own in groupby(pieces, lambda piece: piece.part.entry)]


def by_file(pieces: Pieces) -> list[Pieces]:
    """Pieces of one file of one entry together."""
    grouped = groupby(pieces, lambda piece: (piece.part.entry, piece.part.path))
    return [tuple(own) for _, own in grouped]


def one_by_one(pieces: Pieces) -> list[Pieces]:
    """Each piece by itself."""
    return [(piece,) for piece in pieces]


def told(some: Iterable[Piece], pieces: Pieces) -> list[str]:
    """Pieces as short as they can be named: whole entries and whole files by their own names."""
    here = frozenset(some)
    names: list[str] = []
    for entry in by_entry(pieces):
        if here.issuperset(entry):
            names.append(entry[0].part.entry)
            continue
        for file in by_file(entry):
            if here.issuperset(file):
                names.append(str(Part(file[0].part.entry, file[0].part.path)))
            else:
                names += [str(piece.part) for piece in file if piece in here]
    return names
