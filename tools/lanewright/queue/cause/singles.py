"""What becomes of an entry's units, each merged alone, state by state of their files."""

from collections.abc import Mapping, Sequence

from lanewright.queue.cause.wholes import Versions
from lanewright.queue.merge.alone import State, merged_alone
from lanewright.queue.merge.landed import edited
from lanewright.queue.merge.outcomes import removes
from lanewright.queue.merge.trying import Tried, tried
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.store.git import Repository

MOST_LINES = 1_000_000  # of files that are tried at once, so that a long way needs no more memory


def one_by_one(
    repository: Repository,
    on_base: OnBase,
    units: Sequence[Unit],
    versions: Versions,
    edits: frozenset[str],
) -> dict[str, list[tuple[int, State]]]:
    """By id, what a unit is at each step that touches its file.

    Args:
        repository: The store, with the files' contents.
        on_base: The entry's change.
        units: Units of it.
        versions: Per file, the steps that touch it and what it is after each.
        edits: Ids of units of which it is told where upstream has them with edits.
    """
    states: dict[str, dict[int, State]] = {unit.id: {} for unit in units}
    tries: list[tuple[int, Tried]] = []
    by_step: dict[int, list[Unit]] = {}
    at = {path: dict(found) for path, found in versions.items()}
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
        current = {unit.path: file for unit in together if (file := at[unit.path][number])}
        tries += [(number, each) for each in tried(repository, on_base, together, current)]
        if sum(len(each.texts[1].lines) for _, each in tries) > MOST_LINES:
            _judge(repository, tries, edits, states)
            tries = []
    _judge(repository, tries, edits, states)
    return {name: sorted(found.items()) for name, found in states.items()}


def _judge(
    repository: Repository,
    tries: Sequence[tuple[int, Tried]],
    edits: frozenset[str],
    states: Mapping[str, dict[int, State]],
) -> None:
    """Merge what waits, and note what becomes of it."""
    found = merged_alone(repository, [each for _, each in tries])
    for (number, each), state in zip(tries, found, strict=True):
        states[each.unit.id][number] = _with_edits(each, state) if each.unit.id in edits else state


def _with_edits(each: Tried, state: State) -> State:
    base, ours = (text.lines for text in each.texts)
    if state == State("conflict", open=True) and each.unit.hunk and each.ours:
        difference = edited(each.unit.hunk, base, ours)
        return State("landed changed", open=True) if difference else state
    return state
