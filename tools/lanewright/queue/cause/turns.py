"""Where on upstream's way an entry stopped merging, merged again, or landed.

Every state that upstream's files had on the way is tried, oldest first; a search by halves would
take for granted that what broke once stays broken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanewright.queue.cause.lasting import lasting
from lanewright.queue.cause.singles import one_by_one
from lanewright.queue.cause.wholes import whole_faults
from lanewright.queue.lock import Outcome
from lanewright.queue.merge.alone import State
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.store.git import Repository
from lanewright.store.objects import File
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
        units: By id, the step that made an asked unit what it is at the end, and that.
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
    states = one_by_one(repository, on_base, units, versions, edits)
    ends = {unit.id: states[unit.id][-1][1].outcome for unit in units if states[unit.id]}
    fine = {unit.path for unit in units if ends.get(unit.id) in {"clean", "merged"}}
    bad = whole_faults(repository, on_base, chosen, versions, frozenset(fine))
    whole = {path: _bad_since(steps, at) for path, at in bad.items() if path in fine}
    for unit in units:
        for number, state in states[unit.id]:
            if unit.id in chosen and state.outcome in BAD:
                bad[unit.path][number] = True
    since = {
        unit.id: _since(repository, on_base, unit, states[unit.id], dict(versions[unit.path]))
        for unit in units
        if states[unit.id]
    }
    return Turns(
        tuple(_turned(steps, bad)),
        {name: (steps[number], state) for name, (number, state) in since.items()},
        {path: step for path, step in whole.items() if step},
        sum(step.made is not None for step in steps),
    )


def _since(
    repository: Repository,
    on_base: OnBase,
    unit: Unit,
    found: Sequence[tuple[int, State]],
    files: Mapping[int, File | None],
) -> tuple[int, State]:
    """The number of the step that made a unit what it is at the end, and what that is."""
    first, last = found[-1]
    run: list[int] = []
    for number, state in reversed(found):
        if state.outcome != last.outcome:
            break
        first = number
        run.insert(0, number)
    if last == State("conflict", open=True):
        first = lasting(repository, on_base, unit, {number: files[number] for number in run})
    return first, last


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
