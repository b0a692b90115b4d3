"""What git's complaint about a remote means: try again, refused, not there."""

import re

from lanewright.errors import LanewrightError, UnreachedError
from lanewright.store.git import NO_SPACE
from lanewright.store.remote import Remote
from lanewright.terminal import quoted

ABSENT = re.compile(
    r"not our ref ([0-9a-f]{40})"
    r"|could not fetch ([0-9a-f]{40}) from promisor remote"
    r"|remote did not send all necessary objects"
)
UNADVERTISED = re.compile(r"does not allow request for unadvertised object ([0-9a-f]{40})")
REFUSED = re.compile(
    r"remote error:|[Pp]ermission denied|Authentication failed|could not read (Username|Password)"
    r"|[Hh]ost key verification failed|not found|does not appear to be a git repository"
    r"|dubious ownership|transport '.*' not allowed|returned error: 4(?!29)|certificate"
)
TEMPORARY = re.compile(
    r"[Cc]onnection (refused|reset|timed out|closed)|[Tt]imed out|[Oo]peration too slow"
    r"|Could not resolve host|failure in name resolution|[Uu]nable to connect|Failed to connect"
    r"|[Nn]etwork is unreachable|No route to host"
    r"|(returned error:|HTTP|HTTP code|failed, response) (429|5\d\d)"
    r"|early EOF|unexpected disconnect|hung up unexpectedly|RPC failed|recv(ing)? (error|failure)"
)
# A proxy's word, whatever the remote would have said.
SHUT = re.compile(r"CONNECT tunnel failed|from proxy after CONNECT|Could not resolve proxy")


class RemoteError(LanewrightError):
    """A remote could not be reached, or did not give what was asked for."""


class NoAnswerError(RemoteError, UnreachedError):
    """A remote, or a proxy on the way to it, lets nobody through."""


class AbsentError(RemoteError):
    """A remote does not have an object, or not all that belongs to it."""


def temporary(talk: str) -> bool:
    """Whether a call that failed with these words may succeed when it is made again."""
    settled = (ABSENT, UNADVERTISED, REFUSED)
    return bool(TEMPORARY.search(talk)) and not any(each.search(talk) for each in settled)


def complaint(remote: Remote, talk: str, *, status: int) -> RemoteError:
    """Make the error for a call that failed.

    Args:
        remote: Where the call went.
        talk: What git said.
        status: What git ended with.
    """
    absent, unadvertised = ABSENT.search(talk), UNADVERTISED.search(talk)
    if unadvertised:
        return RemoteError(
            f"{remote.url} does not give objects by id, such as {unadvertised[1]}",
            hint="in the remote's repository: git config uploadpack.allowAnySHA1InWant true",
        )
    if absent:
        name = absent[1] or absent[2]
        what = f"does not have object {name}" if name else "lacks objects that it should have"
        return AbsentError(f"{remote.url} {what}", hint=made_whole(remote))
    if NO_SPACE in talk:
        return RemoteError(
            f"what {remote.url} gives does not fit on the disk of the store",
            hint="make room there; nothing is lost, and the next fetch begins again",
        )
    said = " / ".join(line for line in talk.splitlines() if line.strip()) or f"status {status}"
    if temporary(talk) or SHUT.search(talk):
        return NoAnswerError(
            f"cannot reach {remote.url}: {said}",
            hint="see that it can be reached from here (proxies are taken from https_proxy and"
            " no_proxy); what is in the store already needs no network",
        )
    return RemoteError(
        f"{remote.url} refused: {said}" if REFUSED.search(talk) else f"{remote.url}: {said}",
        hint=_way_in(remote, talk),
    )


def _way_in(remote: Remote, talk: str) -> str:
    if "certificate" in talk:
        return "name the file with your authority's certificates in SSL_CERT_FILE"
    if "dubious ownership" in talk:
        return "git serves no repository of another user: clone it for yourself, or use ssh://"
    return (
        "see that the url is right and that you may read it without being asked for a password:"
        f" GIT_TERMINAL_PROMPT=0 git ls-remote {remote.url}"
    )


def cut_short(remote: Remote, commit: str) -> AbsentError:
    """Make the error for a commit that came without all of its history."""
    return AbsentError(
        f"{remote.url} is a shallow clone: it has not all the history of {commit}",
        hint=f"git -C {quoted(remote.path)} fetch --unshallow"
        if remote.path
        else "make it whole there (git fetch --unshallow), or name another remote",
    )


def made_whole(remote: Remote) -> str:
    """What to type where a clone may have been made without some of its objects."""
    if remote.path:
        return (
            f"if it is a clone without all objects, make it whole: git -C {remote.path} fetch"
            f" --unshallow (shallow), or git -C {remote.path} fetch --refetch --no-filter (partial)"
        )
    return "name a remote that has it; a shallow or partial clone has not all objects"
