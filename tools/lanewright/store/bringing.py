"""All that several extracts need of upstream, fetched at once instead of one by one."""

from collections.abc import Iterable, Iterator

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.store.bindings import pieces_among
from lanewright.store.extract import ROOT, changed_files, pin_ref, pull_refs
from lanewright.store.fetching import fetch_blobs, fetch_commits
from lanewright.store.git import Repository
from lanewright.store.objects import (
    FOLDER,
    BlobId,
    CommitId,
    File,
    TreeId,
    commit_at,
    commits_named,
    entries,
    files,
    tree_of,
)
from lanewright.store.remote import Remote
from lanewright.store.trees import SUBMODULE


def bring(
    places: Places,
    remote: Remote | None,
    pins: Iterable[CommitId],
    changes: Iterable[tuple[CommitId, CommitId]],
) -> None:
    """Fetch the commits of pins and changes in one go, and their contents in another.

    Nothing is fetched for what the store has an extract of.

    Args:
        places: The store.
        remote: Upstream; without one, whoever needs something says that it is missing.
        pins: Commits whose ``vllm/`` is wanted whole.
        changes: Pairs of base and head, of which the changed files are wanted.

    Raises:
        LanewrightError: Upstream lacks one of them, or cannot be reached.
    """
    wanted_pins = [pin for pin in dict.fromkeys(pins) if not _kept(places, pin_ref(pin))]
    pairs = [both for both in dict.fromkeys(changes) if not _kept(places, *pull_refs(*both))]
    if remote is None or not (wanted_pins or pairs):
        return
    commits = dict.fromkeys([*wanted_pins, *(commit for both in pairs for commit in both)])
    here = (places.objects / "objects/info").exists()
    repository = Repository(places.objects)
    absent = [each for each in commits if not here or not commit_at(repository, each)]
    if absent:
        fetch_commits(places, remote, absent)
    blobs = [*_of_pins(repository, wanted_pins), *_of_changes(repository, pairs)]
    fetch_blobs(places, remote, blobs)


def _kept(places: Places, *refs: str) -> bool:
    return places.objects.exists() and all(commits_named(Repository(places.objects), refs))


def _of_pins(repository: Repository, pins: Iterable[CommitId]) -> Iterator[BlobId]:
    for pin in pins:
        root = entries(repository, tree_of(repository, pin)).get(ROOT)
        if root and root.mode == FOLDER:
            yield from _blobs(files(repository, TreeId(root.blob)).values())


def _of_changes(
    repository: Repository, pairs: Iterable[tuple[CommitId, CommitId]]
) -> Iterator[BlobId]:
    for base, head in pairs:
        try:
            inside, outside = changed_files(repository, base, head)
        except LanewrightError:
            continue  # whoever needs it says so
        for sides in (*inside.values(), *pieces_among(outside).values()):
            yield from _blobs(file for file in sides if file)


def _blobs(listed: Iterable[File]) -> Iterator[BlobId]:
    """Their contents; a submodule has none."""
    return (file.blob for file in listed if file.mode != SUBMODULE)
