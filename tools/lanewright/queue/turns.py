"""Where on upstream's way an entry stopped merging, merged again, or landed.

Every state that upstream's files had on the way is tried, oldest first; a search by halves would
take for granted that what broke once stays broken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanewright.queue.alone import State, merged_alone
from lanewright.queue.choose import with_units
from lanewright.queue.merge import merge_trees
from lanewright.queue.outcomes import removes
from lanewright.queue.trying import Tried, tried
from lanewright.queue.units import OnBase, Unit
from lanewright.store.git import Repository
from lanewright.store.objects import File
from lanewright.store.timeline import Step
from lanewright.store.trees import flat_trees
from lanewright.store.write import store_files

Versions = Mapping[str, Sequence[tuple[int, File | None]]]
BAD = {"conflict", "file missing"}


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
        tried: How many of upstream's commits were tried.
    """

    entry: tuple[Turn, ...]
    units: Mapping[str, tuple[Step, State]]
    tried: int


def turns(
    repository: Repository,
    on_base: OnBase,
    chosen: frozenset[str],
    asked: frozenset[str],
    steps: Sequence[Step],
) -> Turns:
    """Try an entry on every state that its files had on the way.

    Args:
        repository: The store, with the files' contents.
        on_base: The entry's change.
        chosen: Ids of the units that it takes.
        asked: Ids of those that a cause is sought for.
        steps: The way from its base to the pin, over the files of its chosen units.
    """
    paths = {unit.path for unit in on_base.units if unit.id in chosen}
    versions = {
        path: [(n, step.files[path]) for n, step in enumerate(steps) if path in step.files]
        for path in paths
    }
    bad = _whole(repository, on_base, chosen, versions)
    units = [unit for unit in on_base.units if unit.id in asked]
    states = _one_by_one(repository, on_base, units, versions)
    since = {}
    for unit in units:
        found = states[unit.id]
        for number, state in found:
            if state.outcome in BAD:
                bad[unit.path][number] = True
        if found:
            since[unit.id] = _since(steps, found)
    return Turns(tuple(_turned(steps, bad)), since, sum(step.made is not None for step in steps))


def _since(steps: Sequence[Step], found: Sequence[tuple[int, State]]) -> tuple[Step, State]:
    """The step since which a unit is what it is at the end."""
    first, last = found[-1]
    for number, state in reversed(found):
        if state.outcome != last.outcome:
            break
        first = number
    return steps[first], last


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


def _whole(
    repository: Repository, on_base: OnBase, chosen: frozenset[str], versions: Versions
) -> dict[str, dict[int, bool]]:
    """Per file and step whether it conflicts with all its chosen units in place."""
    wanted = store_files(repository, with_units(on_base, chosen))
    tries = [(path, n, file) for path, found in versions.items() for n, file in found]
    numbered = {str(at): each for at, each in enumerate(tries)}
    sides = (
        {name: on_base.sides[path] for name, (path, _, _) in numbered.items()},
        {name: file for name, (_, _, file) in numbered.items()},
        {name: wanted[path] for name, (path, _, _) in numbered.items()},
    )
    merge = merge_trees(repository, *flat_trees(repository, sides))
    bad: dict[str, dict[int, bool]] = {path: {} for path in versions}
    for name, (path, number, _) in numbered.items():
        bad[path][number] = name in merge.conflicts
    return bad


def _one_by_one(
    repository: Repository, on_base: OnBase, units: Sequence[Unit], versions: Versions
) -> dict[str, list[tuple[int, State]]]:
    """By id, what a unit is at each step that touches its file."""
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
        states[each.unit.id][number] = state
    return {name: sorted(found.items()) for name, found in states.items()}
