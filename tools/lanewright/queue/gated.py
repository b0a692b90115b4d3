"""An entry's files on their way into a lane's tree, held against the gates."""

from collections.abc import Mapping, Sequence

from lanewright.queue.gates import GateError, check_file
from lanewright.queue.links import check_link
from lanewright.queue.units import LINK
from lanewright.store.git import Repository
from lanewright.store.objects import File, read_blobs


def check_moved(
    repository: Repository,
    place: str,
    moved: Mapping[str, File | None],
    before: Sequence[Mapping[str, File | None]],
) -> None:
    """Check the files that an entry moved.

    Args:
        repository: The store.
        place: Series and entry, for messages.
        moved: What each file became; None where it is removed.
        before: The sides that it came from, by path.

    Raises:
        GateError: A file came out wrong.
    """
    sides = {
        path: [side for each in before if (side := each.get(path))]
        for path, file in moved.items()
        if file
    }
    present = [file for file in moved.values() if file]
    wanted = [file.blob for file in (*present, *(f for each in sides.values() for f in each))]
    contents = read_blobs(repository, wanted)
    for path, file in moved.items():
        if file is None:
            continue
        try:
            if file.mode == LINK:
                check_link(path, contents[file.blob])
            else:
                check_file(path, contents[file.blob], [contents[side.blob] for side in sides[path]])
        except GateError as error:
            raise GateError(
                f"{place}: {error}",
                hint="mend the entry or its fix, or leave the hunk out with `select`",
            ) from error
