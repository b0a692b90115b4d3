"""Why hunks are refused, and what to type next."""

from collections.abc import Sequence

from lanewright.queue.guard.rules import Finding
from lanewright.queue.inputs import Input
from lanewright.queue.merge.gates import GateError
from lanewright.terminal import quoted

Found = tuple[Input, Finding]


class GuardError(GateError):
    """Chosen hunks are refused by rules that a series can allow exceptions from, or not.

    Args:
        lane: The lane's name.
        found: What, and of which entry.
        option: What names the lane in a command.
    """

    def __init__(self, lane: str, found: Sequence[Found], option: str) -> None:
        self._found = tuple(found)
        self._lane = f"{lane} " if option else ""
        lines = [f"lane {lane}: chosen hunks are refused:"]
        lines += [f"  {given.name}: {finding}" for given, finding in found]
        super().__init__("\n".join([*lines, "nothing is written"]), hint=self._hint(option))

    def of_add(self, typed: Sequence[str], option: str, *, update: bool) -> GateError:
        """The same of an ``add``, with what to do instead.

        Args:
            typed: The parts that were to be added.
            option: What else was typed.
            update: Whether entries were to move to their newest heads.
        """
        names = {part.removeprefix("#").partition(":")[0] for part in typed}
        if any(given.name not in names for given, _ in self._found):
            return self
        never = [(given, finding) for given, finding in self._found if finding.final]
        if never and update:
            return GateError(str(self), hint=f"{_select(never)}, then update it")
        first = quoted(self._found[0][0].name)
        if never:
            hint = f"add other parts, without {_parts(never)}; lanewright show {self._lane}{first} lists them"
            return GateError(str(self), hint=hint)
        words = " ".join(map(quoted, typed))
        command = f"lanewright add {words}{_allowing(self._found)}{option}"
        given, finding = self._found[0]
        part = quoted(f"{given.name}:{finding.path}")
        look = f"look at it (lanewright show {self._lane}{part})"
        hint = f"{look}; add other parts, or allow by name what is meant: {command}"
        return GateError(str(self), hint=hint)

    def of_drop(self, typed: Sequence[str], option: str) -> GateError:
        """The same of a ``drop``, with the one that is enough."""
        if any(not finding.hunk for _, finding in self._found):
            return self
        words = " ".join(map(quoted, typed))
        return GateError(str(self), hint=f"lanewright drop {words} {_parts(self._found)}{option}")

    def _hint(self, option: str) -> str:
        whole = [(given, finding) for given, finding in self._found if not finding.hunk]
        if whole:
            return _select(whole)
        drop = f"lanewright drop {_parts(self._found)}{option}"
        if any(finding.final for _, finding in self._found):
            return drop
        names = " ".join(dict.fromkeys(quoted(given.name) for given, _ in self._found))
        allow = f"lanewright add {names}{_allowing(self._found)}{option}"
        return f"{drop}, or allow by name what is meant: {allow}"


def _select(found: Sequence[Found]) -> str:
    return f"name in the `select` of {found[0][0].place} what is wanted of it"


def _parts(found: Sequence[Found]) -> str:
    """Refused units, as ``drop`` takes them."""
    parts = [
        ":".join(filter(None, [given.name, finding.path, finding.hunk])) for given, finding in found
    ]
    return " ".join(map(quoted, dict.fromkeys(parts)))


def _allowing(found: Sequence[Found]) -> str:
    names = dict.fromkeys(finding.allowance for _, finding in found)
    return "".join(f" --allow {quoted(name)}" for name in names)
