"""Where on upstream's way an entry stopped merging, merged again, or landed.

Every state that upstream's files had on the way is tried, oldest first; a search by halves would
take for granted that what broke once stays broken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanewright.queue.alone import State, merged_alone
from lanewright.queue.landed import edited
from lanewright.queue.lock import Outcome
from lanewright.queue.outcomes import removes
from lanewright.queue.trying import Tried, tried
from lanewright.queue.units import OnBase, Unit
from lanewright.queue.wholes import Versions, whole_faults
from lanewright.store.git import Repository
from lanewright.store.timeline import Step

BAD = {"conflict", "file missing", "landed changed"}


@dataclass(frozen=True)
class Turn:
    """A step with which an entry stops merging, or merges again."""

    step: Step
    merges: bool


@dataclass(frozen=True)
class Turns:
    """What the way from an entry's base to the pin did to it.

    Attributes:
        entry: The steps at which it turned, in order; none where it merges all the way.
        units: By id, the step since which an asked unit is what it is at the end, and that.
        files: The step since which a file cannot be merged with all that is chosen of it, though
            each of that merges alone.
        tried: How many of upstream's commits were tried.
    """

    entry: tuple[Turn, ...]
    units: Mapping[str, tuple[Step, State]]
    files: Mapping[str, Step]
    tried: int


def turns(
    repository: Repository,
    on_base: OnBase,
    chosen: frozenset[str],
    asked: Mapping[str, Outcome],
    steps: Sequence[Step],
) -> Turns:
    """Try an entry on every state that its files had on the way.

    Args:
        repository: The store, with the files' contents.
        on_base: The entry's change.
        chosen: Ids of the units that it takes.
        asked: By id, what became in the lane of those that a cause is sought for.
        steps: The way from its base to the pin, over the files of all these units.
    """
    units = [unit for unit in on_base.units if unit.id in asked]
    paths = {unit.path for unit in on_base.units if unit.id in chosen or unit.id in asked}
    versions = {
        path: [(n, step.files[path]) for n, step in enumerate(steps) if path in step.files]
        for path in paths
    }
    edits = frozenset(name for name, outcome in asked.items() if outcome == "landed changed")
    states = _one_by_one(repository, on_base, units, versions, edits)
    ends = {unit.id: states[unit.id][-1][1].outcome for unit in units if states[unit.id]}
    fine = {unit.path for unit in units if ends.get(unit.id) in {"clean", "merged"}}
    bad = whole_faults(repository, on_base, chosen, versions, frozenset(fine))
    whole = {path: _bad_since(steps, at) for path, at in bad.items() if path in fine}
    for unit in units:
        for number, state in states[unit.id]:
            if unit.id in chosen and state.outcome in BAD:
                bad[unit.path][number] = True
    return Turns(
        tuple(_turned(steps, bad)),
        {unit.id: _since(steps, states[unit.id]) for unit in units if states[unit.id]},
        {path: step for path, step in whole.items() if step},
        sum(step.made is not None for step in steps),
    )


def _since(steps: Sequence[Step], found: Sequence[tuple[int, State]]) -> tuple[Step, State]:
    """The step since which a unit is what it is at the end."""
    first, last = found[-1]
    for number, state in reversed(found):
        if state.outcome != last.outcome:
            break
        first = number
    return steps[first], last


def _bad_since(steps: Sequence[Step], at: Mapping[int, bool]) -> Step | None:
    """The step since which a file cannot be merged; None where it can in the end."""
    first = None
    for number in sorted(at, reverse=True):
        if not at[number]:
            break
        first = number
    return None if first is None else steps[first]


def _turned(steps: Sequence[Step], bad: Mapping[str, Mapping[int, bool]]) -> list[Turn]:
    now: set[str] = set()
    found = []
    for number, step in enumerate(steps):
        before = bool(now)
        for path, at in bad.items():
            if number in at:
                (now.add if at[number] else now.discard)(path)
        if bool(now) != before:
            found.append(Turn(step, merges=before))
    return found


def _one_by_one(
    repository: Repository,
    on_base: OnBase,
    units: Sequence[Unit],
    versions: Versions,
    edits: frozenset[str],
) -> dict[str, list[tuple[int, State]]]:
    """By id, what a unit is at each step that touches its file.

    Of those in ``edits`` it is told where upstream has them with edits.
    """
    states: dict[str, dict[int, State]] = {unit.id: {} for unit in units}
    tries: list[tuple[int, Tried]] = []
    by_step: dict[int, list[Unit]] = {}
    for unit in units:
        for number, file in versions.get(unit.path, ()):
            base = on_base.sides[unit.path]
            if file == base:
                states[unit.id][number] = State("clean")
            elif file is None and not removes(on_base, unit):
                states[unit.id][number] = State("file missing")
            else:
                by_step.setdefault(number, []).append(unit)
    for number, together in by_step.items():
        current = {
            unit.path: file
            for unit in together
            for n, file in versions[unit.path]
            if n == number and file
        }
        tries += [(number, each) for each in tried(repository, on_base, together, current)]
    results = merged_alone(repository, [each for _, each in tries])
    for (number, each), state in zip(tries, results, strict=True):
        states[each.unit.id][number] = _with_edits(each, state) if each.unit.id in edits else state
    return {name: sorted(found.items()) for name, found in states.items()}


def _with_edits(each: Tried, state: State) -> State:
    base, ours = (text.lines for text in each.texts)
    if state == State("conflict", open=True) and each.unit.hunk and each.ours:
        difference = edited(each.unit.hunk, base, ours)
        return State("landed changed", open=True) if difference else state
    return state
