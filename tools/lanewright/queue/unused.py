"""What is told of entries that nothing uses."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanewright.queue.gates import GateError
from lanewright.queue.inputs import ChangeInput, PullInput
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
        self._lane = lane
        self._found = found
        self._option = option
        self._names = [each.given.name for each in found]
        drop = f"lanewright drop {' '.join(map(quoted, self._names))}{option}"
        super().__init__("\n".join(map(_told, found)), hint=f"{drop}, or {self._use('name')}")

    def of_edit(self, command: str, typed: Sequence[str]) -> GateError:
        """The same of an edit that is not written, with the command or the lines that are right."""
        words = " ".join(map(quoted, typed))
        hint = f"lanewright drop {words} {' '.join(map(quoted, self._names))}{self._option}"
        if command == "add":
            pulls = [e.given.number for e in self._found if isinstance(e.given, PullInput)]
            entries = " and ".join(f"[[entry]] pull = {number}" for number in pulls)
            hint = f"{self._use(f'write {entries}, and name')}, then: lanewright add {words}{self._option}"
        return GateError(f"{self}\nnothing is written", hint=hint)

    def _use(self, verb: str) -> str:
        """How to say what the first of them is for."""
        first = self._found[0]
        seam = first.seams[0] if first.seams else "SEAM"
        return f'{verb} what uses it in series/{self._lane}.toml: [seams] {seam} = "{first.given.name}"'


def _told(each: Unused) -> str:
    more = f" and {len(each.paths) - SHOWN} more" if len(each.paths) > SHOWN else ""
    return (
        f"{each.given.place} ({each.given.name}) is dead weight: all that it does is to add"
        f" {', '.join(each.paths[:SHOWN])}{more}, and no other file of the lane imports that, no"
        " seam of the lane names the entry, and no test does"
    )
