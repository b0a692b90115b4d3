"""Upstream's refs, commits and blobs, brought into the store; the only way to the network."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.store.complaint import AbsentError, made_whole
from lanewright.store.git import NONE, Repository
from lanewright.store.incoming import require_history, set_refs, take_in, waiting_room
from lanewright.store.locking import writing
from lanewright.store.network import NAME, Wait, call
from lanewright.store.objects import FULL_ID, BlobId, CommitId, commit_at, lacking
from lanewright.store.remote import Remote
from lanewright.terminal import quoted, stage

Id = TypeVar("Id", bound=str)

FETCH = (
    *("fetch", "--quiet", "--no-tags", "--refmap=", "--no-write-fetch-head", "--filter=blob:none"),
    *("--no-auto-maintenance", "--no-recurse-submodules", "--stdin", "--end-of-options", NAME),
)
GONE = "else take it from a store or bundle that has it, or choose another commit"
# Tells the remote of nothing that is here: dearer for commits, cheaper for blobs by id.
ALONE = {"fetch.negotiationAlgorithm": "noop"}


def fetch_refs(
    places: Places,
    remote: Remote,
    wanted: Iterable[str],
    *,
    optional: Iterable[str] = (),
    along: Iterable[CommitId] = (),
    wait: Wait = time.sleep,
) -> dict[str, CommitId]:
    """Bring refs of a remote to where they are now, with all their history but no blobs.

    A ref that was moved back or aside is followed; what it named before stays in the store.

    Args:
        places: Where the store is.
        remote: Where to fetch from.
        wanted: Full names, e.g. ``refs/heads/main`` or ``refs/pull/56177/head``.
        optional: More of them, which the remote need not have.
        along: Commits to bring by id in the same fetch, as ``fetch_commits`` does.
        wait: How to wait before another try.

    Returns:
        The commit of each that is there; of an annotated tag, the one that it names.

    Raises:
        AbsentError: The remote lacks one of them, or is shallow; then none is changed.
        RemoteError: It cannot be reached, or refused.
        LanewrightError: A name is no branch, tag or pull request's head.
    """
    needed = list(wanted)
    kept = {ref: remote.kept_as(ref) for ref in [*needed, *optional]}
    ids = _full_ids(remote, along)
    if not kept and not ids:
        return {}
    with (
        stage(f"fetching {_counted(len(kept), 'ref')} from {remote.url}"),
        writing(places) as store,
        waiting_room(places, store) as room,
    ):
        tips = _tips(room, remote, kept, frozenset(needed), wait)
        beside = [each for each in ids if not commit_at(store, each)]
        commits = _bring(room, remote, [*tips.values(), *beside], wait)
        take_in(room, store)
        named = {kept[ref]: tip for ref, tip in tips.items()}
        set_refs(store, remote, named | {remote.commit_ref(each): each for each in beside})
        return {ref: commits[tip] for ref, tip in tips.items()}


def fetch_commits(
    places: Places, remote: Remote, commits: Iterable[CommitId], *, wait: Wait = time.sleep
) -> None:
    """Bring commits by id, with all their history but no blobs; nothing else is ever taken.

    Raises:
        AbsentError: The remote has one of them no more, or is shallow; then none is taken.
        RemoteError: It cannot be reached, or refused.
        LanewrightError: One is no full id, or no commit's.
    """
    wanted = _full_ids(remote, commits)
    with writing(places) as store:
        absent = [each for each in wanted if not commit_at(store, each)]
        if not absent:
            return
        what = f"fetching {_counted(len(absent), 'commit')} from {remote.url}"
        with stage(what), waiting_room(places, store) as room:
            try:
                found = _bring(room, remote, absent, wait)
            except AbsentError as error:
                raise AbsentError(f"commit gone: {error}", hint=f"{error.hint}; {GONE}") from error
            for name, commit in found.items():
                if name != commit:
                    raise LanewrightError(f"{remote.url}: {name} is a tag, of commit {commit}")
            take_in(room, store)
            set_refs(store, remote, {remote.commit_ref(each): each for each in absent})


def fetch_blobs(
    places: Places, remote: Remote, blobs: Iterable[BlobId], *, wait: Wait = time.sleep
) -> int:
    """Bring the blobs that the store lacks, all at once.

    Returns:
        How many came.

    Raises:
        AbsentError: The remote lacks one of them; then none is taken.
        RemoteError: It cannot be reached, or does not give blobs by id.
        LanewrightError: One is no full id.
    """
    wanted = _full_ids(remote, blobs)
    with writing(places) as store:
        absent = lacking(store, wanted)
        if not absent:
            return 0
        what = f"fetching {_counted(len(absent), 'blob')} from {remote.url}"
        with stage(what), waiting_room(places, store) as room:
            _fetch(room, remote, absent, wait, settings=ALONE)
            if left := lacking(room, absent):
                raise AbsentError(f"{remote.url} did not give {left[0]}", hint=made_whole(remote))
            take_in(room, store)
        return len(absent)


def list_tags(places: Places, remote: Remote, *, wait: Wait = time.sleep) -> list[str]:
    """Names of a remote's tags.

    Raises:
        RemoteError: It cannot be reached, or refused.
    """
    with stage(f"asking {remote.url} for its tags"), writing(places) as store:
        flags = ("--quiet", "--refs", "--tags", "--end-of-options")
        lines = call(store, remote, "ls-remote", *flags, NAME, wait=wait).decode().splitlines()
    return [line.partition("\t")[2].removeprefix("refs/tags/") for line in lines]


def _tips(
    room: Repository, remote: Remote, wanted: Iterable[str], needed: frozenset[str], wait: Wait
) -> dict[str, str]:
    """What the remote's refs name now.

    Raises:
        AbsentError: It lacks one that is needed.
    """
    names = list(wanted)
    flags = ("--quiet", "--refs", "--end-of-options")
    lines = call(room, remote, "ls-remote", *flags, NAME, *names, wait=wait).decode().splitlines()
    tips = {ref: tip for tip, _, ref in (line.partition("\t") for line in lines)}
    sound = [ref for ref in names if FULL_ID.fullmatch(tips.get(ref, ""))]
    lacked = [ref for ref in names if ref in needed and ref not in sound]
    if lacked:
        raise AbsentError(
            f"{remote.url} has no {', '.join(lacked)}",
            hint=f"see what it has: git ls-remote {quoted(remote.url)}",
        )
    return {ref: tips[ref] for ref in sound}


def _bring(room: Repository, remote: Remote, ids: Iterable[str], wait: Wait) -> dict[str, CommitId]:
    """Fetch what is not here yet; give the commit of each id.

    Raises:
        AbsentError: The remote lacks one, or some of its history.
        LanewrightError: One is neither a commit nor a tag of one.
    """
    wanted = list(dict.fromkeys(ids))
    absent = [each for each in wanted if not commit_at(room, each)]
    if absent:
        try:
            _fetch(room, remote, absent, wait)
        except AbsentError:
            # A server without filters sends blobs as deltas on ones that the store was not given.
            _fetch(room, remote, absent, wait, settings=ALONE)
        require_history(room, remote, absent)
    found = {each: commit_at(room, each) for each in wanted}
    for name, commit in found.items():
        if not commit:
            raise LanewrightError(f"{remote.url}: {name} is no commit")
    return {name: commit for name, commit in found.items() if commit}


def _fetch(
    room: Repository,
    remote: Remote,
    ids: Sequence[str],
    wait: Wait,
    *,
    settings: Mapping[str, str] = NONE,
) -> None:
    stdin = "".join(f"{each}\n" for each in ids).encode()
    call(room, remote, *FETCH, stdin=stdin, settings=settings, wait=wait)


def _full_ids(remote: Remote, ids: Iterable[Id]) -> list[Id]:
    wanted = list(dict.fromkeys(ids))
    for each in wanted:
        if not FULL_ID.fullmatch(each):
            raise LanewrightError(f"{each!r} is no full object id to fetch from {remote.url}")
    return wanted


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
