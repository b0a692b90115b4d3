"""What is told of entries that nothing uses."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanewright.queue.gates import GateError
from lanewright.queue.inputs import ChangeInput, PatchInput, PullInput
from lanewright.terminal import quoted

SHOWN = 3


@dataclass(frozen=True)
class Unused:
    """An entry that nothing uses.

    Attributes:
        given: The entry.
        paths: What it adds.
        seams: Where it could be plugged in.
    """

    given: ChangeInput
    paths: tuple[str, ...]
    seams: tuple[str, ...]


class DeadWeightError(GateError):
    """Entries only add modules that nothing uses.

    Args:
        lane: The lane's name.
        found: The entries.
        option: What names the lane in a command.
    """

    def __init__(self, lane: str, found: Sequence[Unused], option: str) -> None:
        self._found = found
        self._names = " ".join(quoted(each.given.name) for each in found)
        self._option = option
        self._use = _use(found[0], lane)
        super().__init__(
            "\n".join(map(_told, found)),
            hint=f"lanewright drop {self._names}{option}, or {self._use}",
        )

    def of_edit(self, command: str, typed: Sequence[str]) -> GateError:
        """The same of an edit that is not written, with what to type or to write instead."""
        words = " ".join(map(quoted, typed))
        hint = f"lanewright drop {words} {self._names}{self._option}"
        if command == "add":
            hint = f"{self._use}, then: lanewright add {words}{self._option}"
            first = self._found[0]
            if isinstance(first.given, PullInput) and first.seams:
                hint = f"write [[entry]] pull = {first.given.number}, and {hint}"
        return GateError(f"{self}\nnothing is written", hint=hint)


def _use(each: Unused, lane: str) -> str:
    """How to say what an entry is for."""
    given = each.given
    if isinstance(given, PatchInput):
        return "name a test of it in its header, as Tests: tests/test_it.py"
    if not each.seams:
        return f"say in patches/{given.number}/pr.toml which seams it provides, or what tests it"
    return f'name it in series/{lane}.toml: [seams] {each.seams[0]} = "{given.name}"'


def _told(each: Unused) -> str:
    more = f" and {len(each.paths) - SHOWN} more" if len(each.paths) > SHOWN else ""
    return (
        f"{each.given.place} ({each.given.name}) is dead weight: all that it does is to add"
        f" {', '.join(each.paths[:SHOWN])}{more}, and no other file of the lane imports that, no"
        " seam of the lane names the entry, and no test does"
    )
