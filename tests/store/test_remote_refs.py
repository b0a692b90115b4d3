"""Refs come from a real git server, whole or not at all."""

import pytest

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.store.complaint import AbsentError
from lanewright.store.fetching import fetch_blobs, fetch_commits, fetch_refs
from lanewright.store.git import Repository
from lanewright.store.objects import lacking, resolve
from lanewright.store.remote import Remote
from tests.upstream.history import Upstream

MAIN, WORK, PULL = "refs/heads/main", "refs/heads/work", "refs/pull/7/head"


def refs(store: Repository) -> dict[str, str]:
    """Every ref of the store."""
    lines = store.run("for-each-ref", "--format=%(refname) %(objectname)").stdout.decode()
    return dict(line.split(" ") for line in lines.splitlines())


def test_refs_are_fetched_with_their_history_and_without_blobs(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    tips = fetch_refs(places, remote, [MAIN, PULL, "refs/tags/v2", "refs/tags/plain"])
    second = upstream.id("plain")
    assert tips == {
        MAIN: upstream.id("main"),
        PULL: upstream.id(PULL),
        "refs/tags/v2": second,
        "refs/tags/plain": second,
    }
    under = f"refs/upstream/{remote.key}"
    assert refs(store) == {
        f"{under}/heads/main": upstream.id("main"),
        f"{under}/pull/7": upstream.id(PULL),
        f"{under}/tags/v2": upstream.id("v2"),
        f"{under}/tags/plain": second,
    }
    assert store.run("rev-list", "--count", "--all").stdout == b"4\n"
    assert lacking(store, [upstream.blob("main:a.py")]) == [upstream.blob("main:a.py")]
    store.run("fsck", "--full", "--strict")


def test_a_fetch_leaves_nothing_else_behind(
    places: Places, store: Repository, remote: Remote
) -> None:
    fetch_refs(places, remote, [MAIN])
    names = {path.name for path in store.path.iterdir()}
    assert not names & {"FETCH_HEAD", "shallow", "no-index", "packed-refs"}
    assert not list((places.store / "incoming").iterdir())
    config = (store.path / "config").read_text()
    assert "partialClone = upstream" in config
    assert "url" not in config


def test_nothing_is_asked_for_nothing(places: Places, store: Repository) -> None:
    assert fetch_refs(places, Remote("/nowhere"), []) == {}
    assert fetch_blobs(places, Remote("/nowhere"), []) == 0
    fetch_commits(places, Remote("/nowhere"), [])
    assert refs(store) == {}


def test_a_later_fetch_brings_only_what_is_new(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    fetch_refs(places, remote, [MAIN])
    before = set((store.path / "objects/pack").glob("*.idx"))
    new = upstream.commit({"a.py": b"a = 4\n", "b.py": b"b = 1\n"})
    assert fetch_refs(places, remote, [MAIN, "refs/tags/plain"])[MAIN] == new
    [added] = set((store.path / "objects/pack").glob("*.idx")) - before
    listed = store.run("show-index", stdin=added.read_bytes()).stdout.decode().splitlines()
    assert len(listed) == 2  # the commit and its tree


def test_a_ref_that_the_remote_lacks_is_named_and_nothing_is_written(
    places: Places, store: Repository, remote: Remote
) -> None:
    with pytest.raises(AbsentError) as absent:
        fetch_refs(places, remote, [MAIN, "refs/pull/9/head", "refs/heads/mai"])
    assert str(absent.value) == f"{remote.url} has no refs/pull/9/head, refs/heads/mai"
    assert refs(store) == {}
    assert not list((store.path / "objects/pack").glob("*"))


def test_a_branch_is_never_a_neighbour_with_a_like_name(
    places: Places, remote: Remote, upstream: Upstream
) -> None:
    upstream.point("refs/heads/x/refs/heads/y", upstream.id("work"))
    with pytest.raises(AbsentError, match=r"has no refs/heads/y$"):
        fetch_refs(places, remote, ["refs/heads/y"])


def test_what_a_moved_pull_request_named_before_stays_readable(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    old = fetch_refs(places, remote, [PULL])[PULL]
    upstream.git("checkout", "--quiet", "--detach", "v2")
    new = upstream.commit({"a.py": b"a = 2\n", "b.py": b"b = 8\n"})
    upstream.point(PULL, new)
    upstream.git("branch", "--quiet", "--force", "work", "main")
    upstream.git("reflog", "expire", "--expire=now", "--all")
    upstream.git("gc", "--quiet", "--prune=now")
    assert fetch_refs(places, remote, [PULL]) == {PULL: new}
    store.run("gc", "--quiet", "--prune=now")
    assert resolve(store, f"{old}^{{tree}}")
    fetch_commits(places, remote, [old])  # known here, though gone there
    with pytest.raises(AbsentError, match=rf"commit gone: .*{old}"):
        fetch_commits(Places(places.store / "other", places.state), remote, [old])


def test_a_branch_may_become_a_folder_of_branches(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    for before, after in (("x", "x/y"), ("x/y", "x")):
        upstream.point(f"refs/heads/{before}", upstream.id("main"))
        fetch_refs(places, remote, [f"refs/heads/{before}"])
        upstream.git("update-ref", "-d", f"refs/heads/{before}")
        upstream.point(f"refs/heads/{after}", upstream.id("work"))
        fetch_refs(places, remote, [f"refs/heads/{after}"])
        assert list(refs(store)) == [f"refs/upstream/{remote.key}/heads/{after}"]
        upstream.git("update-ref", "-d", f"refs/heads/{after}")


def test_a_tag_of_something_else_than_a_commit_is_refused(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    upstream.git("tag", "odd", "main^{tree}")
    with pytest.raises(LanewrightError, match=f"{upstream.id('odd')} is no commit"):
        fetch_refs(places, remote, [MAIN, "refs/tags/odd"])
    assert refs(store) == {}
