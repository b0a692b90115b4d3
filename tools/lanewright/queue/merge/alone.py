"""What becomes of hunks that are merged one by one, each with its own three sides."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanewright.queue.lock import Outcome
from lanewright.queue.merge.merge import merge_trees
from lanewright.queue.merge.placement import misplaced
from lanewright.queue.merge.regions import changed_regions
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.merge.trying import Tried
from lanewright.store.git import Repository
from lanewright.store.objects import files, read_blobs
from lanewright.store.trees import flat_trees
from lanewright.store.write import store_files


@dataclass(frozen=True)
class State:
    """A unit's outcome, and why where the files' history alone does not tell."""

    outcome: Outcome
    why: str = ""
    open: bool = False
    difference: str = ""


def merged_alone(repository: Repository, tries: Sequence[Tried]) -> list[State]:
    """A state for each try, all in one merge: try ``n`` has its three sides at the path ``n``.

    A unit that git would merge into another place than its own is a conflict too.
    """
    if not tries:
        return []
    named = {str(number): each for number, each in enumerate(tries)}
    here = {name: each.ours for name, each in named.items()}
    bases = {name: each.base for name, each in named.items()}
    alone = {name: each.theirs for name, each in named.items()}
    written = store_files(repository, alone)
    base, ours, theirs = flat_trees(repository, [bases, here, written])
    merge = merge_trees(repository, base, ours, theirs)
    fine = named.keys() - merge.conflicts.keys()
    result = {n: file for n, file in files(repository, merge.tree).items() if n in fine}
    blobs = read_blobs(repository, [file.blob for file in result.values()])
    paths = {name: each.unit.path for name, each in named.items()}
    # What conflicts stands nowhere, so that its places are not looked for.
    base, theirs, ours, done = flat_trees(
        repository,
        [
            {name: bases[name] for name in fine},
            {name: written[name] for name in fine},
            {name: here[name] for name in fine},
            result,
        ],
    )
    wanted = changed_regions(
        repository,
        base,
        theirs,
        {n: (paths[n], each.raw) for n, each in alone.items() if each and n in fine},
    )
    got = changed_regions(
        repository, ours, done, {n: (paths[n], blobs[f.blob]) for n, f in result.items()}
    )
    states = []
    for name, each in named.items():
        after = result.get(name)
        unit = each.unit
        why = ""
        if unit.hunk and after and name not in merge.conflicts:
            merged = split_lines(blobs[after.blob])
            whole = each.window.whole(merged) if each.window else merged
            places = (wanted.get(name, set()), got.get(name, set()))
            why = misplaced(unit.hunk, each.texts, whole, *places)
        if name in merge.conflicts or why:
            states.append(State("conflict", why, open=True))
        elif after == each.ours:
            states.append(State("landed"))
        else:
            states.append(State("merged"))
    return states
