"""Whether an entry's files merge with all of its chosen units in place, state by state."""

from collections.abc import Mapping, Sequence

from lanewright.queue.fix.sides import Sides
from lanewright.queue.merge.choose import with_units
from lanewright.queue.merge.gates import GateError, check_file
from lanewright.queue.merge.merge import merge_trees
from lanewright.queue.merge.units import LINK, OnBase
from lanewright.store.git import Repository
from lanewright.store.objects import File, files, read_blobs
from lanewright.store.trees import flat_trees
from lanewright.store.write import store_files

Versions = Mapping[str, Sequence[tuple[int, File | None]]]


def whole_faults(
    repository: Repository,
    on_base: OnBase,
    chosen: frozenset[str],
    versions: Versions,
    gated: frozenset[str],
) -> dict[str, dict[int, bool]]:
    """Per file and step whether it cannot be merged so.

    Args:
        repository: The store, with the files' contents.
        on_base: The entry's change.
        chosen: Ids of the units that it takes.
        versions: Per file, the steps that touch it and what it is after each.
        gated: Files of which what git merges is held against the gates, too.
    """
    wanted = store_files(repository, with_units(on_base, chosen))
    tries = [(p, n, file) for p, found in versions.items() for n, file in found if p in wanted]
    numbered = {str(at): each for at, each in enumerate(tries)}
    sides = {
        name: Sides(on_base.sides[path], file, wanted[path])
        for name, (path, _, file) in numbered.items()
    }
    merge = merge_trees(
        repository,
        *flat_trees(
            repository,
            (
                {name: each.base for name, each in sides.items()},
                {name: each.ours for name, each in sides.items()},
                {name: each.theirs for name, each in sides.items()},
            ),
        ),
    )
    merged = files(repository, merge.tree)
    bad: dict[str, dict[int, bool]] = {path: {} for path in versions}
    for name, (path, number, _) in numbered.items():
        bad[path][number] = name in merge.conflicts or (
            path in gated and _fails(repository, path, merged.get(name), sides[name])
        )
    return bad


def _fails(repository: Repository, path: str, merged: File | None, sides: Sides) -> bool:
    """Whether a file that git merged cleanly cannot be right all the same."""
    if merged is None or merged.mode == LINK or merged == sides.ours:
        return False
    known = [side.blob for side in (sides.base, sides.ours, sides.theirs) if side]
    contents = read_blobs(repository, [merged.blob, *known])
    try:
        check_file(path, contents[merged.blob], [contents[blob] for blob in known])
    except GateError:
        return True
    return False
