"""Chosen hunks that call a compiled op which only their change's own C++ or CUDA brings."""

from collections.abc import Iterator
from dataclasses import dataclass

from lanewright.queue.asked import added_lines, view_of
from lanewright.queue.carried import Chosen
from lanewright.queue.names import Use
from lanewright.queue.units import Unit
from lanewright.queue.view import View


@dataclass(frozen=True)
class Uncompiled:
    """A hunk, and the op that it calls."""

    unit: Unit
    use: Use


def uncompiled(chosen: Chosen, pin: View, final: View) -> list[Uncompiled]:
    """The calls of ops that a lane on this pin cannot have.

    A file that asks whether the op is there is left alone, and one that calls it on the pin.

    Args:
        chosen: What is taken of a change.
        pin: Upstream as it is on the pin.
        final: The lane's tree.
    """
    return list(_uncompiled(chosen, pin, final)) if chosen.ops else []


def _uncompiled(chosen: Chosen, pin: View, final: View) -> Iterator[Uncompiled]:
    now = view_of(chosen.on_base, chosen.taken)
    for path in chosen.on_base.sides:
        names, built, before = (view.names(path) for view in (now, final, pin))
        if names is None or built is None:
            continue
        left, had = ({_op(use) for use in each.uses} if each else set() for each in (built, before))
        added = list(added_lines(chosen.on_base, path, chosen.taken))
        for use in names.uses:
            if use.kind != "op" or use.name not in chosen.ops or use.name in names.asked:
                continue
            unit = next((unit for first, last, unit in added if first <= use.line <= last), None)
            if unit and _op(use) in left and _op(use) not in had:
                yield Uncompiled(unit, use)


def _op(use: Use) -> tuple[str, str] | None:
    return (use.module, use.name) if use.kind == "op" else None
