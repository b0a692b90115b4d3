"""Chosen hunks that take away what the lane still uses, as only unchosen ones change its users."""

import re
from collections.abc import Iterator

from lanewright.queue.closure.asked import (
    Asked,
    Ids,
    added_lines,
    bare_uses,
    removed_lines,
    view_of,
)
from lanewright.queue.closure.defines import defines, lines_of
from lanewright.queue.closure.lacks import Lack, givers_of
from lanewright.queue.closure.names import Use, bare
from lanewright.queue.closure.view import View
from lanewright.queue.merge.units import Unit

WORD = re.compile(r"[^\W\d]\w*")


def removals(asked: Asked, chosen: Ids) -> Iterator[Lack]:
    """What is used on the change's base, and is not there any more once these hunks are chosen.

    Only uses that the whole change does not leave behind: what it breaks as a whole is its
    author's to mend.
    """
    words = _removed_words(asked, chosen)
    if not words:
        return
    now = view_of(asked.on_base, chosen)
    for path in asked.on_base.sides:
        names, before = now.names(path), asked.base.names(path)
        if names is None or before is None:
            continue
        added = [(first, last) for first, last, _ in added_lines(asked.on_base, path, chosen)]
        told: set[Use] = set()
        for use in names.uses:
            if _last(use) not in words or any(a <= use.line <= b for a, b in added):
                continue
            plain = bare(use)
            if plain in told or plain not in before.bare:
                continue
            told.add(plain)
            unit = _remover(asked, now, chosen, path, use)
            if unit and _in_lane(asked, path, use, is_taken=unit.id in asked.taken):
                givers = _menders(asked, chosen, path, use)
                if givers:
                    yield Lack(unit, path, use, givers, removed=True)


def _removed_words(asked: Asked, chosen: Ids) -> frozenset[str]:
    """Names that can be missing: those in lines that are taken away, and of modules."""
    found: set[str] = set()
    for unit in asked.on_base.units:
        if unit.id in chosen and asked.on_base.sides[unit.path]:
            lines = unit.hunk.removed if unit.hunk else asked.on_base.contents[unit.path]
            found.update(WORD.findall(b"".join(lines).decode("utf-8", "replace")))
            found.update(WORD.findall(unit.path))
    return frozenset(found)


def _last(use: Use) -> str:
    return use.name or use.module.rpartition(".")[2]


def _remover(asked: Asked, now: View, chosen: Ids, path: str, use: Use) -> Unit | None:
    """The hunk that takes away what is used; None where it is there, or was not."""
    if defines(now, path, use) is not False or not defines(asked.base, path, use):
        return None
    where, lines = lines_of(asked.base, use, path)
    gone = list(removed_lines(asked.on_base, where, chosen)) if where else []
    direct = (unit for first, last, unit in gone if any(first <= n <= last for n in lines))
    return next(direct, gone[0][2] if gone else None)


def _in_lane(asked: Asked, path: str, use: Use, *, is_taken: bool) -> bool:
    """Whether the lane has the use, and what is used only as far as this change leaves it."""
    own = bare_uses(asked.own.names(path))
    if bare(use) in own and bare(use) not in asked.left(path):
        return False  # a fix or upstream itself did away with it
    if any(defines(view, path, use) for view in asked.beside):
        return False
    return asked.in_lane(path, use) is (not is_taken)


def _menders(asked: Asked, chosen: Ids, path: str, use: Use) -> tuple[Unit, ...]:
    """The unchosen hunks that do away with the use, or define its name anew elsewhere."""
    if bare(use) in bare_uses(asked.everything.names(path)):
        return givers_of(asked, chosen, path, use) if defines(asked.everything, path, use) else ()
    before = asked.base.names(path)
    lines = [each.line for each in before.uses if bare(each) == bare(use)] if before else []
    gone = list(removed_lines(asked.on_base, path, asked.offered - chosen))
    direct = [unit for first, last, unit in gone if any(first <= n <= last for n in lines)]
    rest = [unit for unit in asked.on_base.units if unit.path == path]
    listed = dict.fromkeys([*direct, *rest])
    return tuple(unit for unit in listed if unit.id in asked.offered - chosen)
