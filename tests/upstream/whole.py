"""Whether a project and its store are whole: one state, all that it names, and nothing left over."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lanewright.queue.bundle import refs_of
from lanewright.queue.plan import plan
from lanewright.store.objects import resolve
from tests.transaction.half_done import snapshot
from tests.upstream.fixtures import Carrying

NAMED = ("refs/releases/", "refs/pins/", "refs/pulls/", "refs/trees/")
WORK = ".lanewright/resolve"
LEFT_IN_PROJECT = (
    "series/.*",
    ".lanewright/.[!g]*",
    ".lanewright/*.new",
    f"{WORK}/*/.*",
    "overlay/**/.*",
    "../.making-*",
)
LEFT_IN_STORE = (
    "**/.making-*",
    "objects.git/*.lock",
    "objects.git/refs/**/*.lock",
    "objects.git/objects/pack/tmp_*",
)


def leavings(carrying: Carrying) -> list[str]:
    """What a killed run left, and nobody took away."""
    found = [
        *(path for each in LEFT_IN_PROJECT for path in carrying.root.glob(each)),
        *(path for each in LEFT_IN_STORE for path in carrying.places.store.glob(each)),
    ]
    return sorted(str(path) for path in found)


def require_whole_refs(carrying: Carrying) -> None:
    """Every ref of a source or a tree has all its objects here, though the store is partial."""
    if not (carrying.places.objects / "objects/info").exists():
        return
    repository = carrying.repository
    repository.run("fsck", "--connectivity-only")
    found = repository.run("for-each-ref", "--format=%(refname)", *NAMED).stdout.decode()
    if found:
        flags = ("--objects", "--missing=print", "--stdin")
        listed = repository.run("rev-list", *flags, stdin=found.encode()).stdout.decode()
        assert "?" not in {line[:1] for line in listed.splitlines()}


def require_whole_lane(carrying: Carrying, *, check: int) -> None:
    """Series and lock are of one state, and the store alone gives the lock's tree again.

    Args:
        carrying: The project.
        check: What ``build --check`` gives in that state.
    """
    with gone(carrying.upstream):
        assert carrying.run("build", "--check") == check
        if check:
            return
        assert carrying.run("verify", "--lock") == 0
        planned = plan(carrying.project, "sample")
        wanted = [*refs_of(carrying.project, planned), f"refs/trees/{carrying.lock.tree}"]
        assert [ref for ref in wanted if not resolve(carrying.repository, ref)] == []


def work_folder(carrying: Carrying) -> dict[str, bytes]:
    """What is laid out for a person, by path."""
    folder = carrying.root / WORK
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".making-" not in str(path) and ".done-" not in str(path)
    }


def files_of(carrying: Carrying) -> dict[str, bytes]:
    """The project's own files."""
    return snapshot(carrying.root)


@contextmanager
def gone(folder: Path) -> Iterator[None]:
    """Without this folder for the time of the block."""
    away = folder.with_name(f"{folder.name}.away")
    folder.rename(away)
    try:
        yield
    finally:
        away.rename(folder)
