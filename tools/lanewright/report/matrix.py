"""What any two entries have in common: files, lines and claims."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from lanewright.queue.carried import Carried
from lanewright.queue.cause.touching import Touches, meetings, touches_of
from lanewright.report.model import Cell, Clash, EntryReport, Shared
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId


def matrix_of(
    repository: Repository, tree: TreeId, carried: Sequence[Carried], told: Sequence[EntryReport]
) -> list[Cell]:
    """Every pair that has something in common.

    Args:
        repository: The store.
        tree: The pin's, in whose lines they are compared.
        carried: What became of each entry that could be tried.
        told: All entries, in the report's order.
    """
    touched = {each.entry.name: touches_of(repository, tree, each) for each in carried}
    cells = []
    for one, other in combinations(told, 2):
        claims = [claim for claim in one.claims if claim in other.claims]
        files = _shared(touched, one.name, other.name)
        if files or claims:
            cells.append(Cell(one.name, other.name, files, claims))
    return cells


def clashes_of(told: Sequence[EntryReport]) -> list[Clash]:
    """Claims that more than one entry makes."""
    holders: dict[str, list[str]] = {}
    for entry in told:
        for claim in entry.claims:
            holders.setdefault(claim, []).append(entry.name)
    return [Clash(claim, names) for claim, names in holders.items() if len(names) > 1]


def _shared(touched: Mapping[str, Touches], one: str, other: str) -> list[Shared]:
    both = touched.get(one, {}), touched.get(other, {})
    met: dict[str, list[tuple[str, str]]] = {path: [] for path in both[0] if path in both[1]}
    if met:
        for each in meetings(*both):
            met[each.path].append((each.one, each.other))
    return [Shared(path, pairs) for path, pairs in met.items()]
