"""Names that chosen hunks take away and only unchosen ones give back, used all over the lane."""

import re
from collections.abc import Iterator

from lanewright.queue.closure.asked import Asked, Ids, removed_lines, view_of
from lanewright.queue.closure.defines import defines
from lanewright.queue.closure.lacks import Lack, givers_of
from lanewright.queue.closure.names import MODULE, Names, Use
from lanewright.queue.closure.view import word
from lanewright.queue.merge.units import Unit


def given_back(asked: Asked, chosen: Ids) -> Iterator[Lack]:
    """Uses of such names of a module in files that the change leaves alone."""
    now = view_of(asked.on_base, chosen)
    for path in asked.on_base.sides:
        views = (asked.base, now, asked.everything)
        before, names, after = (view.names(path) for view in views)
        if before is None or names is None or after is None:
            continue
        for name in sorted(_bound(before) & _bound(after) - _bound(names)):
            meant = Use(0, "import", before.module, MODULE, name)
            lines = before.scopes[MODULE].lines[name]
            remover = _remover(asked, path, lines, chosen)
            if remover is None or defines(now, path, meant) is not False:
                continue
            user = next(_users(asked, path, meant, is_taken=remover.id in asked.taken), None)
            if user:
                givers = givers_of(asked, chosen, path, meant)
                yield Lack(remover, *user, givers, removed=True)


def _bound(names: Names) -> frozenset[str]:
    return frozenset(names.scopes[MODULE].lines)


def _remover(asked: Asked, path: str, lines: list[int], chosen: Ids) -> Unit | None:
    gone = removed_lines(asked.on_base, path, chosen)
    return next((u for first, last, u in gone if any(first <= n <= last for n in lines)), None)


def _imports(module: str) -> bytes:
    """A pattern for lines that bring in a module, or something of the package that one is in."""
    last = re.escape(module.rpartition(".")[2].encode())
    return rb"\bimport\b[^\n]*\b" + last + rb"\b|\bfrom\b[^\n]*(?:\b" + last + rb"|\.)\s+import\b"


def _users(asked: Asked, path: str, meant: Use, *, is_taken: bool) -> Iterator[tuple[str, Use]]:
    """Who uses a name of a module: each file, and the use; where nobody else gives the name."""
    own = is_taken and bool(defines(asked.own, path, meant))
    for where, names in asked.final.mentioning(word(meant.name), _imports(meant.module)):
        if where in asked.on_base.sides:
            continue
        for use in names.uses:
            is_it = use.kind in {"import", "attribute"} and str(use) == str(meant)
            if is_it and (own or asked.in_lane(where, use) is (not is_taken)):
                yield where, use
