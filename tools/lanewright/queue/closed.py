"""Whether what a lane takes of its entries is complete; told of all of them together."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from lanewright.queue.asked import Asked
from lanewright.queue.carried import Carried
from lanewright.queue.closure import Closure, closure_of, dependents
from lanewright.queue.compiled import Uncompiled, uncompiled
from lanewright.queue.gates import GateError
from lanewright.queue.inputs import Input, PullInput
from lanewright.queue.lacks import Lack
from lanewright.queue.names import Use
from lanewright.queue.units import Unit
from lanewright.queue.view import View
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, files, read_blobs
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
        either = f"{mended}, or leave out what uses it: {without}"
        super().__init__(message, hint=without if never else either)

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
class _Found:
    given: Input
    closure: Closure
    calls: Sequence[Uncompiled]
    users: Sequence[Unit]


def require_closed(
    repository: Repository,
    lane: str,
    inputs: Sequence[Input],
    carried: Sequence[Carried],
    ends: tuple[TreeId, TreeId],
    option: str,
) -> None:
    """See that every chosen hunk finds its names in the lane's tree, whoever brings them there.

    Args:
        repository: The store.
        lane: The lane's name.
        inputs: Its entries.
        carried: What became of each; what an entry would bring that waits for a person counts.
        ends: The pin's tree, and the lane's with all of them.
        option: What names the lane in a command.

    Raises:
        ClosureError: Names are missing; all are told.
    """
    waiting = [each.entry.subset for each in carried if each.conflicts]
    trees = [*ends, *filter(None, waiting)]
    found = []
    for given, each in zip(inputs, carried, strict=True):
        chosen = each.chosen
        if chosen is None or each.conflicts or (chosen.taken >= chosen.offered and not chosen.ops):
            continue
        pin, final, *beside = (_view(repository, one, chosen.on_base.sides) for one in trees)
        asked = Asked(chosen.on_base, chosen.taken, chosen.offered, final, beside)
        closure = closure_of(asked) or Closure((), ())
        calls = uncompiled(chosen, pin, final)
        if closure.lacks or calls:
            wanting = [lack.unit for lack in closure.lacks] + [call.unit for call in calls]
            found.append(_Found(given, closure, calls, dependents(asked, wanting)))
    if found:
        stopped = [each.entry.name for each in carried if each.conflicts]
        raise _error(lane, found, stopped, option)


def _view(repository: Repository, tree: TreeId, changed: Collection[str]) -> View:
    listed = files(repository, tree)

    def read(path: str) -> bytes:
        blob = listed[path].blob
        return read_blobs(repository, [blob])[blob]

    return View(listed, read, changed)


def _error(lane: str, found: Sequence[_Found], stopped: Sequence[str], option: str) -> ClosureError:
    lines = [f"lane {lane}: chosen hunks use what the lane does not have:"]
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
            f"  {given.name}: {_told(call.unit, call.use)}, an op that {given.name} binds in its"
            " csrc/, and a lane carries no compiled code"
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


def _told(unit: Unit, use: Use) -> str:
    return f"{unit.path}, hunk {unit.id}, line {use.line}: uses {use}"


def _lacking(lack: Lack) -> str:
    giver = _part(lack.givers[0])
    if not lack.removed:
        return f"{_told(lack.unit, lack.use)}, which {giver} defines"
    hunk = f"{lack.unit.path}, hunk {lack.unit.id}"
    place = f"{lack.path}, line {lack.use.line}"
    return f"{hunk}: takes away {lack.use}, which {place}, uses until {giver} changes that"


def _words(parts: Iterable[str]) -> str:
    return " ".join(map(quoted, parts))


def _part(unit: Unit) -> str:
    return f"{unit.path}:{unit.id}"
