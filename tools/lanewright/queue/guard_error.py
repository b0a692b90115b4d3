"""Why hunks are refused, and what to type next."""

from collections.abc import Sequence

from lanewright.queue.gates import GateError
from lanewright.queue.inputs import Input
from lanewright.queue.rules import Finding
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
        lines = [f"lane {lane}: chosen hunks are refused:"]
        lines += [f"  {given.name}: {finding}" for given, finding in found]
        super().__init__("\n".join([*lines, "nothing is written"]), hint=self._hint(option))

    def of_add(self, typed: Sequence[str], option: str) -> GateError:
        """The same of an ``add``, with the command to type instead.

        Args:
            typed: The parts that were to be added.
            option: What else was typed.
        """
        names = {part.removeprefix("#").partition(":")[0] for part in typed}
        if any(given.name not in names for given, _ in self._found):
            return self
        never = [(given, finding) for given, finding in self._found if finding.final]
        if never:
            entries = " ".join(dict.fromkeys(given.name for given, _ in never))
            hint = f"add other parts, without {_parts(never)}; lanewright show {entries} lists them"
        else:
            words = " ".join(map(quoted, typed))
            allow = _allowing(self._found)
            hint = f"add other parts, or allow by name what is meant: lanewright add {words}{allow}{option}"
        return GateError(str(self), hint=hint)

    def _hint(self, option: str) -> str:
        whole = [given for given, finding in self._found if not finding.hunk]
        if whole:
            return f"name in the `select` of {whole[0].place} what is wanted of it"
        drop = f"lanewright drop {_parts(self._found)}{option}"
        if any(finding.final for _, finding in self._found):
            return drop
        names = " ".join(dict.fromkeys(quoted(given.name) for given, _ in self._found))
        allow = f"lanewright add {names}{_allowing(self._found)}{option}"
        return f"{drop}, or allow by name what is meant: {allow}"


def _parts(found: Sequence[Found]) -> str:
    """Refused units, as ``drop`` takes them."""
    parts = [
        ":".join(filter(None, [given.name, finding.path, finding.hunk])) for given, finding in found
    ]
    return " ".join(map(quoted, dict.fromkeys(parts)))


def _allowing(found: Sequence[Found]) -> str:
    names = dict.fromkeys(finding.allowance for _, finding in found)
    return "".join(f" --allow {quoted(name)}" for name in names)
