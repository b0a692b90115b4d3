"""Pull requests as upstream has them: fetched, pinned by object id, compared with what is pinned."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.inputs import PullInput
from lanewright.queue.merge.units import OnBase, read_on_base
from lanewright.queue.pull.pulldiff import FLAGS, pull_diff
from lanewright.store.extract import pull_trees
from lanewright.store.fetching import fetch_commits, fetch_refs
from lanewright.store.git import Repository
from lanewright.store.github import endpoint_of, keep, pull_facts, token
from lanewright.store.history import is_ancestor, merge_base
from lanewright.store.objects import CommitId, exists, resolve
from lanewright.store.remote import Remote


@dataclass(frozen=True)
class Pinned:
    """A pull request by object id.

    Attributes:
        number: Its number upstream.
        head: Its commit.
        base: The commit that it is a change of.
        on: The pull request that it is stacked on, if it is.
    """

    number: int
    head: CommitId
    base: CommitId
    on: int | None = None


def need_remote(project: Project) -> Remote:
    """Upstream's git remote.

    Raises:
        LanewrightError: ``upstream.toml`` names none.
    """
    remote = project.upstream.remote
    if remote is None:
        raise LanewrightError(
            "upstream.toml names no git remote, and pull requests come from one",
            hint='add a table [git] with url = "https://github.com/vllm-project/vllm.git"',
        )
    return remote


def pull_ref(number: int) -> str:
    """Upstream's name of a pull request's head."""
    return f"refs/pull/{number}/head"


def fetch_pulls(
    project: Project, places: Places, numbers: Sequence[int], watched: Sequence[int] = ()
) -> dict[int, CommitId]:
    """Bring pull requests' heads, and the branch that they are merged into, as they are now.

    Args:
        project: Says where upstream is.
        places: The store.
        numbers: Those that must be there.
        watched: Those that may be missing, and are then left out.

    Raises:
        AbsentError: Upstream has no such pull request.
        RemoteError: It cannot be reached.
    """
    remote = need_remote(project)
    refs = {number: pull_ref(number) for number in [*numbers, *watched]}
    needed = [refs[number] for number in numbers]
    optional = [refs[number] for number in watched if number not in numbers]
    found = fetch_refs(places, remote, [main_ref(project), *needed], optional=optional)
    return {number: found[ref] for number, ref in refs.items() if ref in found}


def main_ref(project: Project) -> str:
    """The branch that pull requests are merged into."""
    branch = project.upstream.git.branch if project.upstream.git else "main"
    return f"refs/heads/{branch}"


def known_head(project: Project, places: Places, number: int) -> CommitId | None:
    """A pull request's head as it was fetched last; no network."""
    remote = project.upstream.remote
    if remote is None or not places.objects.exists():
        return None
    name = resolve(Repository(places.objects), remote.kept_as(pull_ref(number)))
    return CommitId(name) if name else None


def pin_pull(project: Project, places: Places, number: int, carried: Sequence[PullInput]) -> Pinned:
    """Fetch a pull request and pin it, with the commit that it is a change of.

    That is the head of another carried pull request where it is stacked on one, else its merge
    base with upstream's branch; always found in the objects.

    Raises:
        LanewrightError: It cannot be had, has no single merge base, or is merged commit by commit.
    """
    head = fetch_pulls(project, places, [number])[number]
    others = [each for each in carried if each.number != number]
    fetch_commits(places, need_remote(project), [each.head for each in others])
    return pinned_at(project, places, number, head, others)


def pinned_at(
    project: Project, places: Places, number: int, head: CommitId, others: Sequence[PullInput]
) -> Pinned:
    """A pull request at a head that is in the store, with the commit that it is a change of.

    Raises:
        LanewrightError: The store lacks upstream's branch, or there is no single merge base.
    """
    repository = Repository(places.objects)
    branch = resolve(repository, need_remote(project).kept_as(main_ref(project)))
    if branch is None:
        raise LanewrightError(f"the store lacks {main_ref(project)}", hint="lanewright fetch")
    below = [each for each in others if is_ancestor(repository, each.head, head)]
    for each in below:
        if all(is_ancestor(repository, other.head, each.head) for other in below):
            return Pinned(number, head, each.head, each.number)
    base = merge_base(repository, head, CommitId(branch))
    if base == head:
        raise LanewrightError(
            f"#{number} is part of {main_ref(project)} already, commit by commit",
            hint="a pin that has that commit needs nothing of it: lanewright rebase",
        )
    return Pinned(number, head, base)


def still_stacked(places: Places, base: CommitId, pinned: Pinned) -> bool:
    """Whether a pull request still stands on the head of another that is carried no more.

    That one may have landed squashed; what of it this one takes back would be no change from the
    merge base.

    Args:
        places: The store, into which the pull request was fetched.
        base: What it was a change of so far.
        pinned: It as it is now.
    """
    repository = Repository(places.objects)
    return (
        pinned.on is None
        and base != pinned.base
        and exists(repository, [base])
        and is_ancestor(repository, base, pinned.head)
        and is_ancestor(repository, pinned.base, base)
    )


def read_pull(
    project: Project, places: Places, number: int, base: CommitId, head: CommitId
) -> OnBase:
    """A pinned pull request, as something to choose from."""
    trees = pull_trees(places, project.upstream.remote, base, head, name=f"#{number}")
    repository = Repository(places.objects)
    diff = pull_diff(repository, trees.base, trees.head, f"#{number}", trees.submodules)
    return read_on_base(repository, diff, trees.base, base[:12])


def pull_text(project: Project, places: Places, base: CommitId, head: CommitId) -> bytes:
    """What a pinned pull request changes, as git prints it."""
    trees = pull_trees(places, project.upstream.remote, base, head)
    flags = ("-r", "-p", *FLAGS)
    return Repository(places.objects).run("diff-tree", *flags, trees.base, trees.head).stdout


def keep_facts(project: Project, places: Places, numbers: Sequence[int]) -> None:
    """Keep what GitHub says of pull requests, where it can be asked; nothing depends on it."""
    remote = project.upstream.remote
    endpoint = remote and endpoint_of(remote.url)
    if not remote or not endpoint:
        return
    for number in numbers:
        facts = pull_facts(endpoint, number, token())
        if facts is None:
            return
        keep(places, remote.key, facts)
