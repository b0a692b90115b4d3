"""The upstream commits that an entry's base and a pin are, so that there is a way between them."""

from collections.abc import Iterable

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.pin import Pin
from lanewright.queue.pulls import main_ref
from lanewright.store.complaint import AbsentError, RemoteError
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


def bring_tags(project: Project, places: Places, pins: Iterable[Pin]) -> None:
    """Bring the tags of releases, where upstream's history is in the store already.

    A lane of patches alone needs no history, so it is not made to fetch one.
    """
    remote = project.upstream.remote
    if remote is None or not places.objects.exists():
        return
    wanted = {
        tag_ref(pin.version): pin
        for pin in pins
        if pin.source == "release" and commit_of(project, places, pin) is None
    }
    [main] = commits_named(Repository(places.objects), [remote.kept_as(main_ref(project))])
    if not wanted or main is None:
        return
    try:
        fetch_refs(places, remote, wanted)
    except (AbsentError, RemoteError) as error:
        say(f"upstream's history of {', '.join(wanted)} is not known: {error}")
