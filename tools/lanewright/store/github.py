"""What GitHub says of a pull request; nice to know, and never needed for a build."""

import os
import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from lanewright.places import Places
from lanewright.store.atomic import replace_file
from lanewright.store.safepath import check
from lanewright.terminal import say

API = "https://api.github.com"
SECONDS = 5.0
MOST_BYTES = 2**20
REMOTE = re.compile(
    r"(?:(?:https|ssh)://(?:[^/@\s]+@)?(?:www\.|ssh\.)?github\.com(?::\d+)?/"
    r"|(?:[\w.-]+@)?(?:ssh\.)?github\.com:/?)"
    r"(?P<owner>\w[\w-]*)/(?P<name>(?!\.{1,2}(?:\.git)?/?\Z)[\w.-]+?)(?:\.git)?/?",
    re.ASCII | re.IGNORECASE,
)

CommitSha = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}\Z")]
Link = Annotated[str, msgspec.Meta(pattern=r"^https?://[!-~]+\Z")]
Time = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")]


class PullFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request as GitHub showed it when it was asked.

    Attributes:
        number: Its number.
        title: In one line, without control characters.
        state: What became of it.
        draft: Whether its author calls it a draft.
        author: Login.
        head_sha: Its newest commit.
        base_ref: Branch that it wants to go to.
        base_sha: That branch's commit, as of the last push to the pull request.
        merged_as: Commit that brought it into the branch; None where it is not merged.
        updated_at: When anything about it last changed, as ISO 8601 in UTC.
        url: Its page.
    """

    number: int
    title: str
    state: Literal["open", "closed", "merged"]
    draft: bool
    author: str
    head_sha: CommitSha
    base_ref: str
    base_sha: CommitSha
    merged_as: CommitSha | None
    updated_at: Time
    url: Link


class _User(msgspec.Struct, frozen=True):
    login: str


class _Side(msgspec.Struct, frozen=True):
    ref: str
    sha: CommitSha


class _Pull(msgspec.Struct, frozen=True):
    """What the API answers, as far as it is read."""

    number: int
    title: str
    state: Literal["open", "closed"]
    user: _User | None
    head: _Side
    base: _Side
    updated_at: Time
    html_url: Link
    draft: bool = False
    merged: bool = False
    # Until it is merged, a commit that GitHub only tries the merge with.
    merge_commit_sha: CommitSha | None = None


def endpoint_of(url: str) -> str | None:
    """The API's address of the repository behind a git remote; None where that is not GitHub's.

    Args:
        url: As git takes it: ``https://``, ``ssh://`` or ``git@github.com:``, ``.git`` or not.
    """
    found = REMOTE.fullmatch(url)
    return found and f"{API}/repos/{found['owner']}/{found['name']}"


def page_of(url: str) -> str:
    """The address of the repository's pages; empty where the remote is not GitHub's.

    Args:
        url: As git takes it.
    """
    found = REMOTE.fullmatch(url)
    return f"https://github.com/{found['owner']}/{found['name']}" if found else ""


def token() -> str | None:
    """The user's token, from the variables that GitHub's own tools read."""
    return (os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN") or "").strip() or None


def pull_facts(
    endpoint: str, number: int, token: str | None, *, timeout: float = SECONDS
) -> PullFacts | None:
    """Ask for a pull request; where that fails, says why in a line and gives None.

    Args:
        endpoint: The repository's address in the API.
        number: The pull request's.
        token: Shown to the endpoint's server; None asks as anybody.
        timeout: Seconds in all.
    """
    from lanewright.store.web import WebError, get_json  # noqa: PLC0415 - 60 ms that `known` need not pay

    url = f"{endpoint.rstrip('/')}/pulls/{number:d}"
    try:
        pull = get_json(url, _Pull, token=token, timeout=timeout, most_bytes=MOST_BYTES)
    except WebError as error:
        more = "" if token or not error.limited else " (a token in GITHUB_TOKEN raises it)"
        say(f"no facts of pull request {number}: {error}{more}")
        return None
    if pull.number != number:
        say(f"no facts of pull request {number}: {url} answered for {pull.number}")
        return None
    return PullFacts(
        number=number,
        title=_one_line(pull.title),
        state="merged" if pull.merged else pull.state,
        draft=pull.draft,
        author=_one_line(pull.user.login) if pull.user else "ghost",  # as GitHub shows it
        head_sha=pull.head.sha,
        base_ref=_one_line(pull.base.ref),
        base_sha=pull.base.sha,
        merged_as=pull.merge_commit_sha if pull.merged else None,
        updated_at=pull.updated_at,
        url=pull.html_url,
    )


def keep(places: Places, key: str, facts: PullFacts) -> None:
    """Keep facts in the store; where that fails, says so and goes on.

    Args:
        places: Where the store is.
        key: Name of the repository that they are of, a path below the store's folder of them.
        facts: They.

    Raises:
        UnsafePathError: The key would lead elsewhere.
    """
    file = _file(places, key, facts.number)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, msgspec.json.format(msgspec.json.encode(facts), indent=2) + b"\n")
    except OSError as error:
        say(f"cannot keep the facts of pull request {facts.number} in {file}: {error.strerror}")


def known(places: Places, key: str, number: int) -> PullFacts | None:
    """Facts that were kept; None where there are none, or the file is damaged.

    Raises:
        UnsafePathError: The key would lead elsewhere.
    """
    try:
        with _file(places, key, number).open("rb") as stream:
            facts = msgspec.json.decode(stream.read(MOST_BYTES), type=PullFacts)
    except (OSError, msgspec.DecodeError, ValueError, RecursionError):
        return None
    return facts if facts.number == number else None


def _file(places: Places, key: str, number: int) -> Path:
    return places.store / "pulls" / check(key, source="pull requests") / f"{number:d}.json"


def _one_line(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())
