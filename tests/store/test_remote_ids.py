"""Commits and blobs come by id from a real git server, whole or not at all."""

import pytest

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.store.complaint import AbsentError
from lanewright.store.fetching import fetch_blobs, fetch_commits, fetch_refs
from lanewright.store.git import Repository
from lanewright.store.objects import BlobId, CommitId, blob_id, lacking, read_blobs, resolve
from lanewright.store.remote import Remote
from tests.upstream.history import Upstream

MAIN, WORK, PULL = "refs/heads/main", "refs/heads/work", "refs/pull/7/head"


def refs(store: Repository) -> dict[str, str]:
    """Every ref of the store."""
    lines = store.run("for-each-ref", "--format=%(refname) %(objectname)").stdout.decode()
    return dict(line.split(" ") for line in lines.splitlines())


def test_a_commit_that_no_ref_names_is_fetched_by_id(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    upstream.git("checkout", "--quiet", "--detach", "main")
    loose = upstream.commit({"a.py": b"a = 9\n"})
    upstream.git("checkout", "--quiet", "main")
    fetch_commits(places, remote, [loose, upstream.id("main~1")])
    assert store.run("rev-list", "--count", loose).stdout == b"4\n"
    assert set(refs(store).values()) == {loose, upstream.id("main~1")}


def test_a_commit_that_is_gone_is_named_and_no_other_is_taken(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    gone = CommitId("1" * 40)
    with pytest.raises(AbsentError, match=rf"commit gone: {remote.url} .* {gone}") as error:
        fetch_commits(places, remote, [upstream.id("main"), gone])
    assert "bundle" in (error.value.hint or "")
    assert refs(store) == {}
    assert resolve(store, f"{upstream.id('main')}^{{commit}}") is None


@pytest.mark.parametrize("name", ["v2", "main^{tree}", "main:a.py"])
def test_what_is_no_commit_is_not_taken_as_one(
    places: Places, store: Repository, remote: Remote, upstream: Upstream, name: str
) -> None:
    with pytest.raises(LanewrightError, match=upstream.id(name)):
        fetch_commits(places, remote, [upstream.id(name)])
    assert refs(store) == {}


@pytest.mark.parametrize("name", ["main", "abc123", "--upload-pack=x", "A" * 40, ""])
def test_only_full_ids_are_ids(places: Places, name: str) -> None:
    for ask in (
        lambda: fetch_commits(places, Remote("/x"), [CommitId(name)]),
        lambda: fetch_blobs(places, Remote("/x"), [BlobId(name)]),
    ):
        with pytest.raises(LanewrightError, match="is no full object id"):
            ask()


def test_blobs_are_fetched_by_id_and_counted(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    fetch_refs(places, remote, [MAIN])
    wanted = [upstream.blob("main:a.py"), upstream.blob("main~2:a.py")]
    assert fetch_blobs(places, remote, [*wanted, *wanted]) == 2
    assert list(read_blobs(store, wanted).values()) == [b"a = 3\n", b"a = 1\n"]
    assert fetch_blobs(places, remote, [*wanted, upstream.blob("work:b.py")]) == 1
    assert fetch_blobs(places, Remote("/nowhere"), wanted) == 0


def test_five_thousand_blobs_come_in_one_pack(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    names = [f"{number}\n".encode() for number in range(5000)]
    upstream.commit({"numbers": b"".join(names)})
    paths = upstream.path / "paths"
    paths.mkdir()
    for name in names:
        (paths / name.decode().strip()).write_bytes(name)
    upstream.git("add", "--all")
    upstream.git("commit", "--quiet", "-m", "many")
    assert fetch_blobs(places, remote, map(blob_id, names)) == 5000
    assert not lacking(store, map(blob_id, names))
    assert len(list((store.path / "objects/pack").glob("*.pack"))) == 1


def test_a_blob_that_the_remote_lacks_is_named_and_none_is_taken(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    here = upstream.blob("main:a.py")
    with pytest.raises(AbsentError, match=f"{remote.url} does not have object {'1' * 40}"):
        fetch_blobs(places, remote, [here, BlobId("1" * 40)])
    assert lacking(store, [here]) == [here]
