"""Which other entries of a lane made a hunk what it is."""

from collections.abc import Iterator, Sequence

from lanewright.queue.carried import Carried
from lanewright.queue.cause.touching import meetings, touches_of
from lanewright.queue.merge.outcomes import removes
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId

IN_THE_TREE = {"clean", "merged", "fixed", "fix stale"}


def earlier_of(
    carried: Sequence[Carried], lane: Sequence[str], asked: Carried
) -> Sequence[Carried]:
    """What the lane has before an entry; nothing of one that is only tried.

    Args:
        carried: What became of each entry.
        lane: Names of those that are the lane's, in order.
        asked: The entry.
    """
    name = asked.entry.name
    before = lane[: lane.index(name)] if name in lane else []
    return [each for each in carried if each.entry.name in before]


def below(asked: Carried, earlier: Sequence[Carried]) -> list[Carried]:
    """The pull requests that an entry is stacked on, those below them too.

    Its base has what they change, so that no difference from it is theirs.
    """
    pull = asked.entry.pull
    bases = {pull.base} if pull else set()
    found = []
    for other in reversed(earlier):
        if other.entry.pull and other.entry.pull.head in bases:
            bases.add(other.entry.pull.base)
            found.append(other)
    return found


def lacking_below(asked: Carried, earlier: Sequence[Carried]) -> dict[str, tuple[str, ...]]:
    """Per file, the entries that one is stacked on and of which the lane lacks a part there."""
    found: dict[str, dict[str, None]] = {}
    for other in below(asked, earlier):
        for hunk in other.entry.hunks:
            if other.conflicts or hunk.outcome == "not selected":
                found.setdefault(hunk.path, {})[other.entry.name] = None
    return {path: tuple(names) for path, names in found.items()}


def by_entries(
    repository: Repository,
    tree: TreeId,
    asked: Carried,
    earlier: Sequence[Carried],
    units: frozenset[str],
) -> dict[str, tuple[str, ...]]:
    """Per unit the earlier entries that did to its lines what it met; none where that is not sure.

    An entry that waits for a person is not in the lane's tree, so it did nothing to anyone.

    Args:
        repository: The store.
        tree: The pin's, in whose lines entries are compared.
        asked: The entry.
        earlier: What the lane has before it.
        units: Ids of its units that upstream alone leaves in peace.
    """
    own = touches_of(repository, tree, asked, units)
    hunks = {hunk.id: hunk for hunk in asked.entry.hunks}
    stood_on = {each.entry.name for each in below(asked, earlier)}
    found: dict[str, dict[str, None]] = {unit: {} for unit in units}
    for other in earlier:
        if other.conflicts or other.entry.name in stood_on:
            continue
        name = other.entry.name
        theirs = touches_of(repository, tree, other, _in_the_tree(other))
        met = {each.one for each in meetings(own, theirs)}
        alike = {each.one for each in meetings(own, theirs, alike=True)} | _in_the_tree(other)
        gone = set(_removed(other))
        for unit in units:
            match hunks[unit].outcome:
                case "landed":
                    did = unit in alike
                case "file missing":
                    did = hunks[unit].path in gone
                case _:
                    did = unit in met
            if did:
                found[unit][name] = None
    return {unit: tuple(names) for unit, names in found.items()}


def _in_the_tree(other: Carried) -> frozenset[str]:
    """Ids of what an entry brought into the lane's tree itself."""
    return frozenset(hunk.id for hunk in other.entry.hunks if hunk.outcome in IN_THE_TREE)


def _removed(other: Carried) -> Iterator[str]:
    """The files that an entry takes away."""
    if other.chosen is None:
        return
    brought = _in_the_tree(other)
    on_base = other.chosen.on_base
    yield from (
        unit.path for unit in on_base.units if unit.id in brought and removes(on_base, unit)
    )
