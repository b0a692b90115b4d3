"""What is known of a pull request: by ``pr.toml``, by GitHub as it was asked last, by its head."""

from datetime import date

import msgspec

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.prfile import pr_file
from lanewright.report.model import Sight
from lanewright.store.git import Repository
from lanewright.store.github import known, page_of
from lanewright.store.objects import CommitId, commit_at
from lanewright.store.timeline import made_of


class About(msgspec.Struct, frozen=True):
    """Facts for people; nothing is decided by them.

    Attributes:
        title: What it is.
        state: Whether it is open, a draft, merged.
        head_date: When its head was committed.
        seen: What became of it before.
        worth: Whether it is worth carrying.
        claims: What it takes for itself as a whole.
        provides: The seams at which it plugs in.
    """

    title: str = ""
    state: str = ""
    head_date: date | None = None
    seen: list[Sight] = []
    worth: str = ""
    claims: list[str] = []
    provides: list[str] = []


def about_pull(project: Project, places: Places, number: int, head: CommitId | None) -> About:
    """What is known of a pull request; no network.

    Args:
        project: The user's project.
        places: The store.
        number: Its number.
        head: Its commit, where it was fetched.

    Raises:
        LanewrightError: Its ``pr.toml`` is damaged.
    """
    file = pr_file(project, number)
    remote = project.upstream.remote
    facts = known(places, remote.key, number) if remote else None
    made = None
    if head and places.objects.exists():
        repository = Repository(places.objects)
        made = made_of(repository, head) if commit_at(repository, head) else None
    titles = (
        facts.title if facts else "",
        file.brings if file else "",
        made.subject if made else "",
    )
    state = facts.state if facts else (file.state or "" if file else "")
    return About(
        title=next(filter(None, titles), ""),
        state="draft" if facts and facts.draft and state == "open" else state,
        head_date=made.date if made else None,
        seen=[Sight(each.on, each.pin, each.outcome) for each in file.seen] if file else [],
        worth=file.worth or "" if file else "",
        claims=list(file.claimed(())) if file else [],
        provides=list(file.provides) if file else [],
    )


def page(project: Project) -> str:
    """The address of upstream's pages; empty where its remote is not GitHub's."""
    remote = project.upstream.remote
    return page_of(remote.url) if remote else ""
