"""What a person made of the files of a work folder, and what keeps it from being recorded."""

import re
from collections.abc import Iterator
from pathlib import Path

from lanewright.queue.carried import Conflict
from lanewright.queue.fix.sides import contents_of
from lanewright.queue.merge.gates import GateError, check_file
from lanewright.store.git import Repository

SEPARATOR = re.compile(rb"^={7}\r?$", re.MULTILINE)


def read_result(folder: Path, path: str) -> bytes | None:
    """What a person made of a file; None where they removed it.

    Raises:
        GateError: A symlink or folder is in its place, or on the way to it.
    """
    place = folder
    for part in path.split("/")[:-1]:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise GateError(f"{path}: {place.relative_to(folder)} is no folder any more")
    place = folder / path
    if place.is_symlink() or (place.exists() and not place.is_file()):
        what = "a symlink" if place.is_symlink() else "no regular file"
        raise GateError(f"{path}: it is {what} now")
    return place.read_bytes() if place.exists() else None


def troubles_of(repository: Repository, folder: Path, conflict: Conflict) -> Iterator[str]:
    """What keeps a person's file from being recorded, each with its path first."""
    path = conflict.path
    try:
        result = read_result(folder, path)
        if result is None:
            return
        if conflict.taken:
            yield f"{path}: {conflict.taken} is in the way there; delete it, or drop that hunk"
            return
        contents = contents_of(repository, conflict.sides)
        known = [side for side in contents.values() if side is not None]
        check_file(path, result, known)
    except GateError as error:
        yield str(error)
        return
    separator = SEPARATOR.search(result)
    if separator and not any(map(SEPARATOR.search, known)):
        line = result[: separator.start()].count(b"\n") + 1
        yield f"{path}, line {line}: a conflict marker was left in it"
