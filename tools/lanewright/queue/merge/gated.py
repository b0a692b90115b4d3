"""An entry's files on their way into a lane's tree, held against the gates.

Each file is held against its own three sides alone, so that a fix, which is bound to those, can
settle what is found. What takes the whole tree to tell is for ``apply_plan``, after the last entry.
"""

from collections.abc import Mapping

from lanewright.queue.fix.sides import Sides
from lanewright.queue.merge.gates import GateError, check_file
from lanewright.queue.merge.links import check_link
from lanewright.queue.merge.units import LINK
from lanewright.store.git import Repository
from lanewright.store.objects import File, read_blobs


def merge_faults(
    repository: Repository, place: str, merged: Mapping[str, File], sides: Mapping[str, Sides]
) -> dict[str, str]:
    """Per file that git merged cleanly and that cannot be right all the same, why.

    Args:
        repository: The store.
        place: Series and entry, for messages.
        merged: What each file became.
        sides: What it was merged from.

    Raises:
        GateError: A file is wrong as the entry itself has it on its own base.
    """
    found = _faults(repository, merged, sides)
    own = {path: side for path in found if (side := sides[path].theirs)}
    alone = {path: Sides(None, None, side) for path, side in own.items()}
    _raise_first(place, {path: found[path] for path in _faults(repository, own, alone)})
    return {path: str(error) for path, error in found.items()}


def check_settled(
    repository: Repository, place: str, settled: Mapping[str, File], sides: Mapping[str, Sides]
) -> None:
    """Check what fixes make of files.

    Raises:
        GateError: A file came out wrong.
    """
    _raise_first(place, _faults(repository, settled, sides))


def _faults(
    repository: Repository, moved: Mapping[str, File], sides: Mapping[str, Sides]
) -> dict[str, GateError]:
    before = {
        path: [side for side in (each.base, each.ours, each.theirs) if side]
        for path, each in sides.items()
        if path in moved
    }
    wanted = [*moved.values(), *(side for each in before.values() for side in each)]
    contents = read_blobs(repository, [file.blob for file in wanted])
    found = {}
    for path, file in moved.items():
        try:
            if file.mode == LINK:
                check_link(path, contents[file.blob])
            else:
                check_file(path, contents[file.blob], [contents[s.blob] for s in before[path]])
        except GateError as error:
            found[path] = error
    return found


def _raise_first(place: str, found: Mapping[str, GateError]) -> None:
    for error in found.values():
        raise GateError(
            f"{place}: {error}",
            hint="mend the entry or its fix, or leave the hunk out with `select`",
        ) from error
