"""What of an entry is refused, whatever it is merged onto."""

from collections.abc import Collection, Iterable, Iterator

from lanewright.queue.carried import Chosen
from lanewright.queue.guard.guarded_lines import odd_lines
from lanewright.queue.guard.guarded_paths import rules_of_path
from lanewright.queue.guard.rules import Finding, check_allowed_paths
from lanewright.queue.inputs import Choice
from lanewright.queue.lock import HunkState
from lanewright.queue.merge.gates import GateError
from lanewright.queue.merge.links import check_link
from lanewright.queue.merge.units import LINK, OnBase, Unit
from lanewright.queue.patch.diff import FilePatch

NO_SUBMODULE = "a lane's tree can have none"


def refused_units(
    chosen: Chosen, states: Iterable[HunkState], choice: Choice, place: str
) -> tuple[Finding, ...]:
    """Chosen units that a rule keeps out and the series does not allow.

    Args:
        chosen: What is taken of the entry.
        states: What became of its units; what has landed is upstream's affair.
        choice: What the series says of it.
        place: Series and entry, for messages.

    Raises:
        LanewrightError: Something is allowed in a file that the entry does not change.
    """
    landed = frozenset(state.id for state in states if state.outcome == "landed")
    return refused_of(chosen.on_base, chosen.taken, choice, place, landed)


def refused_of(
    on_base: OnBase,
    taken: Collection[str],
    choice: Choice,
    place: str,
    landed: Collection[str] = (),
) -> tuple[Finding, ...]:
    """The same of units that may not be carried yet.

    Raises:
        LanewrightError: As ``refused_units`` says.
    """
    check_allowed_paths(choice.allow, on_base.sides, place)
    found = list(_of_files(on_base, taken, landed))
    if not choice.select:
        found += [
            Finding("submodule", path, "", NO_SUBMODULE, final=True)
            for path in on_base.diff.submodules
        ]
    allowed = frozenset(choice.allow)
    return tuple(each for each in found if each.final or each.allowance not in allowed)


def _of_files(
    on_base: OnBase, taken: Collection[str], landed: Collection[str]
) -> Iterator[Finding]:
    units: dict[str, list[Unit]] = {}
    for unit in on_base.units:
        if unit.id in taken:
            units.setdefault(unit.path, []).append(unit)
    for file in on_base.diff.files:
        own = units.get(file.path, [])
        brought = [unit for unit in own if unit.id not in landed]
        rules = list(rules_of_path(file.path, is_new=on_base.sides[file.path] is None))
        for unit in brought:
            for rule, why in rules:
                yield Finding(rule, file.path, unit.id, why)
        if brought and file.new_mode == LINK:
            yield _of_link(file.path, brought[0], on_base.wholes[file.path])
        elif brought:
            yield from _of_lines(on_base, file, own, brought)


def _of_link(path: str, unit: Unit, target: bytes) -> Finding:
    try:
        check_link(path, target)
    except GateError as error:
        why = str(error).removeprefix(f"{path}: ")
        return Finding("link", path, unit.id, why, final=True)
    return Finding("link", path, unit.id, f"a symlink to {target.decode()!a}")


def _of_lines(
    on_base: OnBase, file: FilePatch, own: list[Unit], brought: list[Unit]
) -> Iterator[Finding]:
    """Per hunk its first odd line; lines are counted with all the chosen hunks in place.

    A line that was there before is upstream's, be it moved, indented in another way or renamed.
    """
    shift = 0
    found: list[tuple[Unit, list[tuple[int, bytes, str]]]] = []
    for unit in own:
        if unit.hunk is None:
            continue
        first = unit.hunk.old_start + shift + 1
        shift += len(unit.hunk.new) - len(unit.hunk.old)
        if unit in brought and (odd := list(odd_lines(file.path, unit.hunk, first))):
            found.append((unit, odd))
    if not found:
        return
    before = [*on_base.contents[file.path], *on_base.contents.get(file.partner or "", [])]
    known = {line.strip() for line in before}
    for unit, odd in found:
        new = [(number, what) for number, line, what in odd if line.strip() not in known]
        if new:
            number, what = new[0]
            also = f" (and {len(new) - 1} lines more)" if new[1:] else ""
            yield Finding("bidi", file.path, unit.id, f"it adds {what}{also}", number)
