"""What is known of a pull request: by ``pr.toml``, by GitHub as it was asked last, by its head."""

from datetime import date
from typing import Protocol

import msgspec

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.use.prfile import pr_file
from lanewright.report.model import Sight
from lanewright.store.git import Repository
from lanewright.store.github import known, page_of
from lanewright.store.objects import CommitId, commit_at
from lanewright.store.timeline import Made, first_after, made_of


class Ends(Protocol):
    """The two commits that a pull request is a change between."""

    @property
    def base(self) -> CommitId:
        """What it is a change of."""

    @property
    def head(self) -> CommitId:
        """Its newest commit."""


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


def about_pull(project: Project, places: Places, number: int, known_as: Ends | None) -> About:
    """What is known of a pull request; no network.

    Args:
        project: The user's project.
        places: The store.
        number: Its number.
        known_as: Its base and head, where it was fetched.

    Raises:
        LanewrightError: Its ``pr.toml`` is damaged.
    """
    file = pr_file(project, number)
    remote = project.upstream.remote
    facts = known(places, remote.key, number) if remote else None
    first, last = _commits(places, known_as) if known_as else (None, None)
    titles = (
        facts.title if facts else "",
        file.brings if file else "",
        first.subject if first else "",
    )
    state = facts.state if facts else (file.state or "" if file else "")
    return About(
        title=next(filter(None, titles), ""),
        state="draft" if facts and facts.draft and state == "open" else state,
        head_date=last.date if last else None,
        seen=[Sight(each.on, each.pin, each.outcome) for each in file.seen] if file else [],
        worth=file.worth or "" if file else "",
        claims=list(file.claimed(())) if file else [],
        provides=list(file.provides) if file else [],
    )


def _commits(places: Places, ends: Ends) -> tuple[Made | None, Made | None]:
    """Its first commit, by which it is called, and its last."""
    repository = Repository(places.objects)
    if not places.objects.exists() or not all(
        commit_at(repository, each) for each in (ends.base, ends.head)
    ):
        return None, None
    last = made_of(repository, ends.head)
    return first_after(repository, ends.base, ends.head) or last, last


def page(project: Project) -> str:
    """The address of upstream's pages; empty where its remote is not GitHub's."""
    remote = project.upstream.remote
    return page_of(remote.url) if remote else ""
