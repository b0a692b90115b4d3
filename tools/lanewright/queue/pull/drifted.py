"""What an update of a change did to each hunk of it."""

import re
from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from typing import Literal

import msgspec

from lanewright.queue.merge.units import OnBase, Unit

What = Literal["same", "moved", "changed", "gone", "new"]
ALIKE = 0.5
WORD = re.compile(r"[^\W\d]\w*")
MOST_SHOWN = 30


class Drifted(msgspec.Struct, frozen=True, omit_defaults=True):
    """One hunk, before and after an update.

    Attributes:
        what: ``same``; ``moved`` to other lines of its base or of its head; ``changed`` a little; ``gone``; or ``new``.
        path: Its file.
        id: Its id before; of a new one, now.
        now: Its id now, where it changed.
        symbol: What encloses it.
        lines: Where it stands now on its base, before where it is gone.
        difference: Where it changed, from the lines before to those now.
    """

    what: What
    path: str
    id: str
    symbol: str
    lines: str
    now: str = ""
    difference: str = ""


def drifted(before: OnBase, chosen: frozenset[str], after: OnBase) -> list[Drifted]:
    """What became of each chosen hunk, then what is new.

    A hunk whose id is still there is the same, or has moved. Of those left, each is held against
    the hunks that are new in its file: the most alike is the one that it changed into, if it is
    alike at all. So are the hunks that are not chosen, for one that was reworded is not new; of
    those nothing else is told.

    Args:
        before: The change as pinned.
        chosen: Ids of the hunks that are carried.
        after: The change as it is now.
    """
    now = {unit.id: unit for unit in after.units}
    places = (_places(before), _places(after))
    known = {unit.id for unit in before.units}
    fresh = [unit for unit in after.units if unit.id not in known]
    lost = [unit for unit in before.units if unit.id not in now]
    heirs = dict(_heirs(lost, fresh, chosen))
    found = [
        _of_known(unit, now.get(unit.id), heirs.get(unit.id), places)
        for unit in before.units
        if unit.id in chosen
    ]
    taken = {heir.id for heir in heirs.values()}
    found += [
        Drifted("new", unit.path, unit.id, unit.symbol, unit.lines)
        for unit in fresh
        if unit.id not in taken
    ]
    return found


def _places(change: OnBase) -> dict[str, tuple[str, int]]:
    """Where each hunk stands: on the base, and how far the hunks above it push it down."""
    found: dict[str, tuple[str, int]] = {}
    pushed: Counter[str] = Counter()
    for unit in change.units:
        found[unit.id] = (unit.lines, pushed[unit.path])
        if unit.hunk:
            pushed[unit.path] += len(unit.hunk.new) - len(unit.hunk.old)
    return found


def _of_known(
    unit: Unit,
    still: Unit | None,
    heir: Unit | None,
    places: tuple[dict[str, tuple[str, int]], dict[str, tuple[str, int]]],
) -> Drifted:
    if still:
        before, after = places
        what: What = "same" if before[unit.id] == after[unit.id] else "moved"
        return Drifted(what, unit.path, unit.id, unit.symbol, still.lines)
    if heir:
        difference = _difference(unit, heir)
        return Drifted("changed", unit.path, unit.id, unit.symbol, heir.lines, heir.id, difference)
    return Drifted("gone", unit.path, unit.id, unit.symbol, unit.lines)


def _heirs(
    lost: list[Unit], fresh: list[Unit], chosen: frozenset[str]
) -> Iterator[tuple[str, Unit]]:
    """For each lost hunk the new one that it changed into; the most alike are paired first.

    Alike is told by the words that both take away and bring in, so that one reworded line counts.
    Where two are as much alike, a chosen one goes first.
    """
    pairs = [
        (_likeness(old, new), old.id in chosen, -number, old, new)
        for number, old in enumerate(lost)
        for new in fresh
        if old.path == new.path and (old.hunk is None) == (new.hunk is None)
    ]
    done: set[str] = set()
    for likeness, _, _, old, new in sorted(pairs, key=lambda pair: pair[:3], reverse=True):
        if likeness >= ALIKE and not {old.id, new.id} & done:
            done |= {old.id, new.id}
            yield old.id, new


def _likeness(one: Unit, other: Unit) -> float:
    if one.hunk is None or other.hunk is None:
        return float(one.lines == other.lines)
    words = [
        Counter(line[0] + word for line in _marked(unit) for word in WORD.findall(line))
        for unit in (one, other)
    ]
    return 2 * (words[0] & words[1]).total() / max(1, words[0].total() + words[1].total())


def _marked(unit: Unit) -> list[str]:
    if unit.hunk is None:
        return []
    signs = (("-", unit.hunk.removed), ("+", unit.hunk.added))
    return [
        sign + line.decode("utf-8", "replace").rstrip("\n")
        for sign, lines in signs
        for line in lines
    ]


def _difference(before: Unit, after: Unit) -> str:
    told = unified_diff(_marked(before), _marked(after), "pinned", "now", n=1, lineterm="")
    return "\n".join(list(told)[:MOST_SHOWN])
