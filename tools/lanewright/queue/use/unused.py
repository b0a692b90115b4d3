"""What is told of entries that nothing uses."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lanewright.queue.inputs import ChangeInput, PatchInput, PullInput
from lanewright.queue.merge.gates import GateError
from lanewright.queue.use.lines import entry_lines, pr_lines, series_lines
from lanewright.queue.use.seams import SEAMS
from lanewright.terminal import quoted

SHOWN = 3


@dataclass(frozen=True)
class Unused:
    """An entry that nothing uses.

    Attributes:
        given: The entry.
        paths: What it adds.
        seams: Where it could be plugged in.
        known: Whether the project has facts of it at all.
    """

    given: ChangeInput
    paths: tuple[str, ...]
    seams: tuple[str, ...]
    known: bool = True


class DeadWeightError(GateError):
    """Entries only add modules that nothing uses.

    Args:
        lane: The lane's name.
        found: The entries.
        plugged: The seams that the series names already.
        option: What names the lane in a command.
    """

    def __init__(
        self, lane: str, found: Sequence[Unused], plugged: Collection[str], option: str
    ) -> None:
        self._lane, self._found, self._plugged = lane, found, plugged
        self._names = " ".join(quoted(each.given.name) for each in found)
        self._option = option
        self._told = "\n".join(map(_told, found))
        use = _use(found[0])
        super().__init__(
            "\n".join([self._told, *self._lines(found[0])]),
            hint=f"lanewright drop {self._names}{option}, or {use}",
        )

    def of_edit(self, command: str, typed: Sequence[str]) -> GateError:
        """The same of an edit that is not written, with what to type or to write instead."""
        words = " ".join(map(quoted, typed))
        if command != "add":
            hint = f"lanewright drop {words} {self._names}{self._option}"
            return GateError(f"{self._told}\nnothing is written", hint=hint)
        first, entry = self._found[0], list[str]()
        given = first.given
        if isinstance(given, PullInput) and (first.seams or not first.known):
            entry = entry_lines(given.number, given.choice.select or ())
            number = str(given.number)
            is_it = [part.removeprefix("#").partition(":")[0] == number for part in typed]
            parts = [number if it else part for it, part in zip(is_it, typed, strict=True)]
            words = " ".join(map(quoted, dict.fromkeys(parts)))
        lines = self._lines(first, entry)
        hint = f"{_use(first)}, then: lanewright add {words}{self._option}"
        return GateError("\n".join([self._told, "nothing is written", *lines]), hint=hint)

    def _lines(self, each: Unused, entry: Sequence[str] = ()) -> list[str]:
        """What to write of an entry, so that something uses it."""
        given = each.given
        if isinstance(given, PatchInput) or (each.known and not each.seams):
            return []
        seams = each.seams or SEAMS
        seam = next((name for name in seams if name not in self._plugged), seams[0])
        lines = [] if each.known else [pr_lines(given.number, seam)]
        has_seams = bool(self._plugged)
        plug = series_lines(self._lane, seam, given.name, has_seams=has_seams, entry=entry)
        return ["what would use it is said so:", *lines, plug]


def _use(each: Unused) -> str:
    """How to say what an entry is for."""
    given = each.given
    if isinstance(given, PatchInput):
        return "name a test of it in its header, as Tests: tests/test_it.py"
    if each.known and not each.seams:
        return f"say in patches/{given.number}/pr.toml which seams it provides, or what tests it"
    return "write these lines"


def _told(each: Unused) -> str:
    more = f" and {len(each.paths) - SHOWN} more" if len(each.paths) > SHOWN else ""
    return (
        f"{each.given.place} ({each.given.name}) is dead weight: all that it does is to add"
        f" {', '.join(each.paths[:SHOWN])}{more}, and no other file of the lane imports that, no"
        " seam of the lane names the entry, and no test does"
    )
