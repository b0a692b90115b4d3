"""Which entry each line of a lane's file comes from: git's own blame, over one commit per entry."""

import re
from collections.abc import Sequence

import msgspec

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.queue.merge.subset import split_lines
from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, exists, files, read_blobs
from lanewright.store.write import commit
from lanewright.terminal import quoted

LINE = re.compile(rb"([0-9a-f]{40}) \d+ (\d+)(?: \d+)?\n")


class Blamed(msgspec.Struct, frozen=True):
    """One line of a file.

    Attributes:
        number: From 1 on.
        entry: The entry that brought it in; None for one of upstream's.
        text: It, without its end.
    """

    number: int
    entry: str | None
    text: str


def blame(places: Places, lock: Lock, path: str) -> list[Blamed]:
    """Every line of a file of the built tree, in order.

    A line belongs to the last entry that changed it, also where a hand fix wrote it for that entry.

    Args:
        places: Where the store is.
        lock: The lane's.
        path: Of the file in the lane's tree.

    Raises:
        LanewrightError: The store lacks the trees, or the lane has no such file, or no text in it.
    """
    repository = Repository(places.objects)
    trees = [lock.pin.tree, *(entry.tree for entry in lock.entries)]
    if not places.objects.exists() or not exists(repository, trees):
        raise LanewrightError(
            f"the store lacks a tree of lane {lock.lane}",
            hint=f"lanewright verify {lock.lane} --lock",
        )
    file = files(repository, lock.tree, [path]).get(path)
    if file is None:
        near = _near(repository, lock, path)
        raise LanewrightError(
            f"lane {lock.lane} has no file {path}"
            + (f"; it has {', '.join(map(quoted, near))}" if near else ""),
            hint=f"lanewright blame {lock.lane} {quoted(near[0])}"
            if near
            else f"lanewright show {lock.lane} names the files that its entries change",
        )
    content = read_blobs(repository, [file.blob])[file.blob]
    if b"\0" in content:
        raise LanewrightError(f"{path} is no text, so it has no lines to tell apart")
    owners = _owners(repository, lock)
    tip = list(owners)[-1]
    output = repository.run("blame", "--root", "-s", "--porcelain", tip, "--", path).stdout
    found = {int(number): owners[CommitId(name.decode())] for name, number in _headers(output)}
    lines = split_lines(content)
    if found.keys() != set(range(1, len(lines) + 1)):
        raise LanewrightError(f"git blame told of {len(found)} of the {len(lines)} lines of {path}")
    return [
        Blamed(number, found[number], line.decode("utf-8", "replace").rstrip("\n"))
        for number, line in enumerate(lines, start=1)
    ]


def _owners(repository: Repository, lock: Lock) -> dict[CommitId, str | None]:
    """A commit for the pin and one more for each entry, each on the one before."""
    last = commit(repository, lock.pin.tree, f"{lock.pin.ref}\n")
    owners: dict[CommitId, str | None] = {last: None}
    for entry in lock.entries:
        last = commit(repository, entry.tree, f"{entry.name}\n", [last])
        owners[last] = entry.name
    return owners


def _headers(output: bytes) -> Sequence[tuple[bytes, bytes]]:
    """Commit and line number of each line; the line itself follows a tab, and is not looked at."""
    lines = output.split(b"\n")
    found = [LINE.fullmatch(line + b"\n") for line in lines]
    return [(each[1], each[2]) for each in found if each]


def _near(repository: Repository, lock: Lock, path: str) -> list[str]:
    """Files of the same name elsewhere."""
    name = path.rpartition("/")[2]
    same = [other for other in files(repository, lock.tree) if other.rpartition("/")[2] == name]
    return same[:5]
