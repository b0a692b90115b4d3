"""What comes from a remote waits beside the store until it is known to be whole."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from lanewright.places import Places
from lanewright.store import write
from lanewright.store.complaint import cut_short
from lanewright.store.git import Repository, create
from lanewright.store.network import NAME
from lanewright.store.remote import Remote
from lanewright.store.scratch import making

# As `git config` writes it.
MARK = f"partialClone = {NAME}"
PARTIAL = f"[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\t{MARK}\n"
# An index last: git takes a pack for whole once it sees that.
PARTS = (".promisor", ".rev", ".pack", ".idx")
MANY = 8


@contextmanager
def waiting_room(places: Places, store: Repository) -> Iterator[Repository]:
    """A repository that sees the store's objects and is removed when the block ends.

    git lets a shallow remote's commits in without a word, lacking their parents; from here they
    go no further, and neither does anything of a run that is killed.
    """
    _mark_partial(store)
    with making(places.incoming) as folder:
        room = create(folder / "objects.git")
        with (room.path / "config").open("a", encoding="utf-8") as config:
            config.write(PARTIAL)  # nobody else sees it, so no git call is needed
        alternates = room.path / "objects" / "info" / "alternates"
        alternates.write_text(f"{store.path / 'objects'}\n")
        yield room


def _mark_partial(repository: Repository) -> None:
    """Let git take a blob that is not here for one that is at the remote."""
    known = (repository.path / "config").read_text(encoding="utf-8").splitlines()
    if MARK not in map(str.strip, known):
        repository.run("config", "core.repositoryFormatVersion", "1")
        repository.run("config", "extensions.partialClone", NAME)


def require_history(room: Repository, remote: Remote, commits: Sequence[str]) -> None:
    """Follow the history of what came until it meets what the store has.

    Raises:
        AbsentError: It ends before.
    """
    for commit in commits:
        known = ("--not", "--alternate-refs")
        output = room.run("rev-list", "--quiet", commit, *known, ok=(0, 128))
        if output.status:
            raise cut_short(remote, commit)


def take_in(room: Repository, store: Repository) -> None:
    """Move every pack from the waiting room into the store; hold the store's lock."""
    packs = store.path / "objects" / "pack"
    packs.mkdir(exist_ok=True)
    for part in PARTS:
        for file in sorted((room.path / "objects" / "pack").glob(f"pack-*{part}")):
            file.replace(packs / file.name)
    _index_together(store, packs)


def _index_together(store: Repository, packs: Path) -> None:
    """Write one index over all packs once they are many: a git call opens each of the others.

    Nothing depends on it, so that it may fail.
    """
    if sum(1 for _ in packs.glob("*.idx")) >= MANY:
        store.run("multi-pack-index", "write", ok=(0, 1, 128))


def set_refs(store: Repository, remote: Remote, values: Mapping[str, str]) -> None:
    """Write all of these refs in one step, or none; hold the store's lock."""
    under = f"refs/upstream/{remote.key}/"
    output = store.run("for-each-ref", "--format=%(refname)", under)
    for old in output.stdout.decode().splitlines():
        # The remote had a branch `a` and has `a/b` now: no ref can be beside one below it.
        if any(new.startswith(f"{old}/") or old.startswith(f"{new}/") for new in values):
            store.run("update-ref", "-d", "--end-of-options", old)
    write.set_refs(store, values)
