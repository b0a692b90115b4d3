"""Units that merge alone, and still need a person once everything is put together."""

from collections.abc import Mapping, Sequence

import msgspec

from lanewright.queue.lock import HunkState
from lanewright.queue.merge import Merge
from lanewright.store.git import Repository
from lanewright.store.objects import File, TreeId, files, folders


def only_together(states: list[HunkState], merge: Merge) -> list[HunkState]:
    """Mark units that merge one by one, in a file that conflicts as a whole."""
    alone = {state.path for state in states if state.open}
    together = merge.conflicts.keys() - alone
    return _opened(states, together, "each hunk merges alone, but not together with the others")


def blocked(
    repository: Repository,
    states: list[HunkState],
    merge: Merge,
    tree: TreeId,
    ours: Mapping[str, File],
) -> list[HunkState]:
    """Mark new files where the lane's tree has a file in place of their folder, or the reverse."""
    result = files(repository, merge.tree)
    new = [path for path in result if path not in ours]
    if not new:
        return states
    present = files(repository, tree).keys() - (ours.keys() - result.keys())
    inside = {folder: path for path in sorted(present, reverse=True) for folder in folders(path)}
    for path in new:
        in_the_way = min((f for f in folders(path) if f in present), default=inside.get(path))
        if in_the_way:
            states = _opened(states, {path}, f"{in_the_way} is in the way there")
    return states


def _opened(states: list[HunkState], paths: Sequence[str] | set[str], why: str) -> list[HunkState]:
    return [
        msgspec.structs.replace(state, outcome="conflict", cause=why, open=True)
        if state.path in paths and state.outcome != "not selected"
        else state
        for state in states
    ]
