"""Chosen hunks that use what only hunks define which are not chosen."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from lanewright.queue.closure.asked import Asked, Ids, added_lines, view_of
from lanewright.queue.closure.defines import defines, lines_of
from lanewright.queue.closure.names import Use, bare
from lanewright.queue.closure.view import View
from lanewright.queue.merge.units import Unit


@dataclass(frozen=True)
class Lack:
    """A chosen hunk that needs one which is not chosen.

    Attributes:
        unit: The hunk.
        path: The file that uses what is not there.
        use: What it uses, and on which line of that file as the chosen hunks make it.
        givers: Hunks of which one at least is needed; the first is the likeliest.
        removed: Whether the hunk does not use it, but takes it away from what does.
    """

    unit: Unit
    path: str
    use: Use
    givers: tuple[Unit, ...]
    removed: bool = False


def lacks(asked: Asked, chosen: Ids) -> Iterator[Lack]:
    """What the chosen hunks use, and do not find once these are chosen."""
    on_base = asked.on_base
    now = view_of(on_base, chosen)
    for path in on_base.sides:
        added = list(added_lines(on_base, path, chosen))
        names = now.names(path) if added else None
        told: set[tuple[str, Use]] = set()
        for use in names.uses if names else ():
            unit = next((unit for first, last, unit in added if first <= use.line <= last), None)
            if unit is None:
                continue
            plain = bare(use)
            if (unit.id, plain) in told:
                continue
            told.add((unit.id, plain))
            if unit.id in asked.taken and plain not in asked.left(path):
                continue  # a fix or upstream itself did away with it
            if _lacking(asked, now, path, use, is_chosen=unit.id in asked.taken):
                givers = givers_of(asked, chosen, path, use)
                if givers:
                    yield Lack(unit, path, use, givers)


def _lacking(asked: Asked, now: View, path: str, use: Use, *, is_chosen: bool) -> bool:
    here = defines(now, path, use)
    if here or not defines(asked.everything, path, use):
        return False
    if any(defines(view, path, use) for view in asked.beside):
        return False
    there = asked.in_lane(path, use)
    if not is_chosen:  # so the lane's tree does not know its scopes
        return here is False and not there
    return there is False or bool(defines(asked.own, path, use))


def givers_of(asked: Asked, chosen: Ids, path: str, use: Use) -> tuple[Unit, ...]:
    """The unchosen hunks of the file that defines a name; those that bind it come first."""
    where, lines = lines_of(asked.everything, use, path)
    added = list(added_lines(asked.on_base, where, asked.offered)) if where else []
    direct = [unit for first, last, unit in added if any(first <= n <= last for n in lines)]
    rest = [unit for _, _, unit in added]
    listed = dict.fromkeys(chain(direct, rest))
    return tuple(unit for unit in listed if unit.id not in chosen)
