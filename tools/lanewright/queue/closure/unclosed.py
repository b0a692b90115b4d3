"""What is told where too little is taken of an entry, and what to type then."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lanewright.queue.closure.closure import Closure
from lanewright.queue.closure.compiled import Uncompiled
from lanewright.queue.closure.lacks import Lack
from lanewright.queue.closure.names import Use
from lanewright.queue.inputs import Input, PullInput
from lanewright.queue.merge.gates import GateError
from lanewright.queue.merge.units import Unit
from lanewright.terminal import quoted


class ClosureError(GateError):
    """Chosen hunks use what only hunks define which are not chosen, or take away what is used.

    Args:
        message: All of them.
        further: Parts to choose too, as ``add`` takes them.
        users: Parts to leave out instead, as ``drop`` takes them.
        by_hand: What can only be mended in the series, in words.
        never: Whether some can only be left out.
        option: What names the lane in a command.
    """

    def __init__(
        self,
        message: str,
        *,
        further: Sequence[str],
        users: Sequence[str],
        by_hand: Sequence[str],
        never: bool,
        option: str,
    ) -> None:
        self.further = tuple(further)
        self.users = tuple(users)
        self._by_hand = tuple(by_hand)
        self._never = never
        command = [f"lanewright add {_words(further)}{option}"] if further else []
        mended = " and ".join([*by_hand, *command])
        without = f"lanewright drop {_words(users)}{option}"
        either = f"{mended}, or leave out instead: {without}"
        super().__init__(message, hint=without if never else either)

    @property
    def first(self) -> str:
        """The first of them alone."""
        return str(self).splitlines()[1].strip()

    def of_edit(
        self, command: str, typed: Sequence[str], more: Sequence[str], option: str
    ) -> GateError:
        """The same of an edit that is not written, with the command that makes it whole."""
        told = f"{self}\nnothing is written"
        if command == "add" and self._never:
            return GateError(told, hint=f"add other parts, without {_words(self.users)}")
        whole = f"lanewright {command} {_words(dict.fromkeys([*typed, *more]))}{option}"
        by_hand = self._by_hand if command == "add" else ()
        return GateError(told, hint=" and ".join([*by_hand, whole]))


@dataclass(frozen=True)
class Unclosed:
    """An entry of which too little is taken.

    Attributes:
        given: The entry.
        closure: What it lacks, and what mends it.
        calls: What nothing can mend: calls of compiled ops.
        users: Chosen hunks to leave out instead.
    """

    given: Input
    closure: Closure
    calls: Sequence[Uncompiled]
    users: Sequence[Unit]


def closure_error(
    lane: str, found: Sequence[Unclosed], stopped: Sequence[str], option: str
) -> ClosureError:
    """What is told of a lane's entries, with the next command."""
    lines = [f"lane {lane}: chosen hunks {_wrong(found)}:"]
    further: list[str] = []
    users: list[str] = []
    by_hand: list[str] = []
    for each in found:
        given, parts = each.given, [_part(unit) for unit in each.closure.further]
        lines += [
            f"  {given.name}: {_lacking(lack)}, and that is not chosen"
            for lack in each.closure.lacks
        ]
        lines += [
            f"  {given.name}: {_told(call.unit, call.use)}, {_compiled(given.name, call)}, and a"
            " lane carries no compiled code"
            for call in each.calls
        ]
        if parts:
            lines.append(f"  {given.name} needs too: {', '.join(parts)}")
        if isinstance(given, PullInput):
            further += [f"{given.number}:{part}" for part in parts]
        elif parts:
            by_hand.append(f"name what it needs in the `select` of {given.place}")
        users += [f"{given.name}:{_part(unit)}" for unit in each.users]
    if stopped:
        lines.append(f"  in conflict, to be told once this is mended: {', '.join(stopped)}")
    return ClosureError(
        "\n".join(lines),
        further=further,
        users=users,
        by_hand=by_hand,
        never=any(each.calls for each in found),
        option=option,
    )


def _wrong(found: Sequence[Unclosed]) -> str:
    removed = {lack.removed for each in found for lack in each.closure.lacks}
    uses = "use what the lane does not have"
    if True not in removed:
        return uses
    takes = "take away what the lane uses"
    return f"{uses}, or {takes}" if False in removed or any(e.calls for e in found) else takes


def _told(unit: Unit, use: Use) -> str:
    return f"{unit.path}, hunk {unit.id}, line {use.line}: uses {use}"


def _lacking(lack: Lack) -> str:
    giver = _part(lack.givers[0])
    if not lack.removed:
        return f"{_told(lack.unit, lack.use)}, which {giver} defines"
    hunk = f"{lack.unit.path}, hunk {lack.unit.id}"
    place = f"{lack.path}, line {lack.use.line}"
    return f"{hunk}: takes away {lack.use}, which {place}, uses until {giver} changes that"


def _compiled(name: str, call: Uncompiled) -> str:
    is_op = call.use.kind == "op"
    told = f"an op that {name} binds in its csrc/"
    op = told if is_op else f"which calls {call.op.name}, {told}"
    if not call.op.pieces:
        return op
    pieces = ", ".join(f"{path} ({does} it)" for does, path in call.op.pieces)
    return f"{op}: its closure is {pieces}"


def _words(parts: Iterable[str]) -> str:
    return " ".join(map(quoted, parts))


def _part(unit: Unit) -> str:
    return f"{unit.path}:{unit.id}"
