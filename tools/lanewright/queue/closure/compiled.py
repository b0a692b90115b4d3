"""Chosen hunks that call a compiled op which only their change's own C++ or CUDA brings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanewright.queue.carried import Chosen
from lanewright.queue.closure.asked import added_lines, view_of
from lanewright.queue.closure.defines import defines
from lanewright.queue.closure.names import Use, module_of
from lanewright.queue.closure.view import View
from lanewright.queue.merge.units import Unit
from lanewright.store.bindings import Op


@dataclass(frozen=True)
class Uncompiled:
    """A hunk, and the op that it calls.

    Attributes:
        unit: The hunk.
        use: What it calls: the op, or a function of the same change that does.
        op: The op.
    """

    unit: Unit
    use: Use
    op: Op


def uncompiled(chosen: Chosen, pin: View, final: View) -> list[Uncompiled]:
    """The calls of ops that a lane on this pin cannot have, and of what wraps them.

    A file that asks whether the op is there is left alone, and one that calls it on the pin.

    Args:
        chosen: What is taken of a change.
        pin: Upstream as it is on the pin.
        final: The lane's tree.
    """
    if not chosen.ops:
        return []
    calls = list(_calls(chosen, pin, final))
    wrapped = _wrappers(calls)
    return [*calls, *(_through(chosen, wrapped, pin) if wrapped else ())]


def _calls(chosen: Chosen, pin: View, final: View) -> Iterator[Uncompiled]:
    now = view_of(chosen.on_base, chosen.taken)
    ops = {op.name: op for op in chosen.ops}
    for path in chosen.on_base.sides:
        names, built, before = (view.names(path) for view in (now, final, pin))
        if names is None or built is None:
            continue
        left, had = ({_op(use) for use in each.uses} if each else set() for each in (built, before))
        for use, unit in _uses_of_chosen(chosen, now, path):
            is_op = use.kind == "op" and use.name in ops and use.name not in names.asked
            if is_op and _op(use) in left and _op(use) not in had:
                yield Uncompiled(unit, use, ops[use.name])


def _wrappers(calls: Sequence[Uncompiled]) -> dict[str, Op]:
    """By dotted name, the functions of modules that call an op, as ``_custom_ops.py`` has them."""
    return {
        f"{module_of(call.unit.path)}.{call.use.scope[0]}": call.op
        for call in calls
        if len(call.use.scope) == 1
    }


def _through(chosen: Chosen, wrapped: dict[str, Op], pin: View) -> Iterator[Uncompiled]:
    """Uses of those functions by other chosen hunks, where the pin has none of that name."""
    now = view_of(chosen.on_base, chosen.taken)
    for path in chosen.on_base.sides:
        told: set[tuple[str, str]] = set()
        for use, unit in _uses_of_chosen(chosen, now, path):
            op = wrapped.get(str(use)) if use.kind in {"import", "attribute"} else None
            if op and (unit.id, str(use)) not in told and not defines(pin, path, use):
                told.add((unit.id, str(use)))
                yield Uncompiled(unit, use, op)


def _uses_of_chosen(chosen: Chosen, now: View, path: str) -> Iterator[tuple[Use, Unit]]:
    added = list(added_lines(chosen.on_base, path, chosen.taken))
    names = now.names(path) if added else None
    for use in names.uses if names else ():
        unit = next((unit for first, last, unit in added if first <= use.line <= last), None)
        if unit:
            yield use, unit


def _op(use: Use) -> tuple[str, str] | None:
    return (use.module, use.name) if use.kind == "op" else None
