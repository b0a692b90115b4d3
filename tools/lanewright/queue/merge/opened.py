"""Units that merge alone, and still need a person once everything is put together."""

from collections.abc import Mapping, Sequence

import msgspec

from lanewright.queue.lock import HunkState
from lanewright.queue.merge.merge import Merge
from lanewright.store.git import Repository
from lanewright.store.objects import File, TreeId, files, folders


def only_together(states: list[HunkState], merge: Merge) -> list[HunkState]:
    """Mark units that merge one by one, in a file that conflicts as a whole."""
    alone = {state.path for state in states if state.open}
    together = merge.conflicts.keys() - alone
    return _opened(states, together, "each hunk merges alone, but not together with the others")


def in_the_way(
    repository: Repository, merge: Merge, tree: TreeId, ours: Mapping[str, File]
) -> dict[str, str]:
    """New files that have no place, each with what the lane's tree has there.

    That is a file where a new one needs a folder, or a folder where it would be itself.
    """
    result = files(repository, merge.tree)
    new = [path for path in result if path not in ours]
    if not new:
        return {}
    present = files(repository, tree).keys() - (ours.keys() - result.keys())
    inside = {folder: path for path in sorted(present, reverse=True) for folder in folders(path)}
    found = {
        path: min((each for each in folders(path) if each in present), default=inside.get(path))
        for path in new
    }
    return {path: other for path, other in found.items() if other}


def blocked(states: list[HunkState], no_place: Mapping[str, str]) -> list[HunkState]:
    """Mark new files that have no place."""
    for path, other in no_place.items():
        states = _opened(states, {path}, f"{other} is in the way there")
    return states


def refused(
    states: list[HunkState], faults: Mapping[str, str], causes: Mapping[str, str]
) -> list[HunkState]:
    """Mark files that git merged into what fails a gate.

    Args:
        states: What became of the entry's hunks.
        faults: Per such file, what is wrong with it.
        causes: Per path, who else changed it.
    """
    for path, why in faults.items():
        states = _opened(states, {path}, "; ".join(filter(None, [why, causes.get(path)])))
    return states


def _opened(states: list[HunkState], paths: Sequence[str] | set[str], why: str) -> list[HunkState]:
    return [
        msgspec.structs.replace(state, outcome="conflict", cause=why, open=True)
        if state.path in paths and state.outcome != "not selected"
        else state
        for state in states
    ]
