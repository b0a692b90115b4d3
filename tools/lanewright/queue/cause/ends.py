"""The upstream commits that an entry's base and a pin are, so that there is a way between them."""

from collections.abc import Iterable

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.pin import Pin
from lanewright.store.complaint import RemoteError
from lanewright.store.fetching import fetch_refs
from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, commit_at, commits_named
from lanewright.terminal import say


def tag_ref(version: str) -> str:
    """Upstream's name of a release's commit."""
    return f"refs/tags/v{version}"


def commit_of(project: Project, places: Places, pin: Pin) -> CommitId | None:
    """The upstream commit that a pin is, as far as the store knows; no network."""
    repository = Repository(places.objects)
    if pin.source == "git":
        return commit_at(repository, pin.commit)
    remote = project.upstream.remote
    if remote is None or not places.objects.exists():
        return None
    return commits_named(repository, [remote.kept_as(tag_ref(pin.version))])[0]


def bring_tags(
    project: Project, places: Places, versions: Iterable[str], along: Iterable[CommitId] = ()
) -> None:
    """Bring the tags of releases that the store lacks, as far as upstream has them.

    Args:
        project: Says where upstream is.
        places: The store.
        versions: Of the releases.
        along: Commits to bring in the same fetch, if there is one.
    """
    remote = project.upstream.remote
    if remote is None:
        return
    refs = {version: remote.kept_as(tag_ref(version)) for version in dict.fromkeys(versions)}
    known: list[CommitId | None] = [None] * len(refs)
    if places.objects.exists():
        known = commits_named(Repository(places.objects), refs.values())
    absent = [tag_ref(v) for v, commit in zip(refs, known, strict=True) if commit is None]
    if not absent:
        return
    try:
        found = fetch_refs(places, remote, [], optional=absent, along=along)
    except RemoteError as error:
        say(f"upstream's history of {', '.join(absent)} is not known: {error}")
        return
    for ref in absent:
        if ref not in found:
            say(f"upstream's history of {ref} is not known: {remote.url} has no such tag")
