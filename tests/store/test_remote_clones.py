"""Clones of a person as a source: what they lack is said, and never lacks in the store."""

import shlex
import subprocess

import pytest

from lanewright.places import Places
from lanewright.store.complaint import AbsentError
from lanewright.store.fetching import fetch_blobs, fetch_commits, fetch_refs
from lanewright.store.git import Repository
from lanewright.store.objects import read_blobs, resolve
from lanewright.store.remote import Remote, remote_of
from tests.upstream.daemon import serving
from tests.upstream.history import Upstream

MAIN = "refs/heads/main"


@pytest.fixture
def shallow(upstream: Upstream) -> Upstream:
    return upstream.clone("shallow", "--depth=1")


@pytest.fixture
def partial(upstream: Upstream) -> Upstream:
    return upstream.clone("partial", "--filter=blob:none", "--no-checkout")


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_whole_clone_is_taken_by_its_path(places: Places, upstream: Upstream, form: str) -> None:
    remote = remote_of(form.format(upstream.path), place="test")
    assert fetch_refs(places, remote, [MAIN]) == {MAIN: upstream.id("main")}
    assert fetch_blobs(places, remote, [upstream.blob("main~2:a.py")]) == 1


def test_a_shallow_clone_is_refused_with_the_command_that_makes_it_whole(
    places: Places, store: Repository, shallow: Upstream
) -> None:
    remote = Remote(str(shallow.path))
    main = shallow.id("main")
    asks = (
        lambda: fetch_refs(places, remote, [MAIN]),
        lambda: fetch_commits(places, remote, [main]),
    )
    for ask in asks:
        with pytest.raises(AbsentError, match="is a shallow clone: .*" + main) as error:
            ask()
        assert resolve(store, f"{main}^{{commit}}") is None
        assert not (store.path / "shallow").exists()
        hint = (error.value.hint or "").split("; ")[0]
        assert hint == f"git -C {shallow.path} fetch --unshallow"
    subprocess.run([*shlex.split(hint), "--quiet"], check=True)
    assert fetch_refs(places, remote, [MAIN]) == {MAIN: main}
    assert store.run("rev-list", "--count", main).stdout == b"3\n"


def test_a_shallow_remote_that_is_served_is_refused(
    places: Places, store: Repository, shallow: Upstream
) -> None:
    with (
        serving(shallow.path.parent) as base,
        pytest.raises(AbsentError, match="is a shallow clone"),
    ):
        fetch_refs(places, Remote(f"{base}/shallow"), [MAIN])
    assert store.run("for-each-ref").stdout == b""


def test_a_shallow_clone_serves_where_the_store_has_the_rest(
    places: Places, store: Repository, remote: Remote, shallow: Upstream
) -> None:
    fetch_refs(places, remote, [MAIN])
    new = shallow.commit({"a.py": b"a = 5\n"})
    assert fetch_refs(places, Remote(str(shallow.path)), [MAIN]) == {MAIN: new}
    assert store.run("rev-list", "--count", new).stdout == b"4\n"
    assert not (store.path / "shallow").exists()


def test_a_commit_before_a_shallow_clones_end_is_gone_there(
    places: Places, upstream: Upstream, shallow: Upstream
) -> None:
    with pytest.raises(AbsentError, match="commit gone") as error:
        fetch_commits(places, Remote(str(shallow.path)), [upstream.id("main~1")])
    assert f"git -C {shallow.path} fetch --unshallow" in (error.value.hint or "")


def test_a_partial_clone_gives_its_history_and_says_how_to_complete_its_blobs(
    places: Places, store: Repository, partial: Upstream, upstream: Upstream
) -> None:
    remote = Remote(str(partial.path))
    blob = upstream.blob("main~2:a.py")
    assert fetch_refs(places, remote, [MAIN]) == {MAIN: upstream.id("main")}
    with pytest.raises(AbsentError, match=f"does not have object {blob}") as error:
        fetch_blobs(places, remote, [blob])
    command = f"git -C {partial.path} fetch --refetch --no-filter"
    assert command in (error.value.hint or "")
    subprocess.run([*shlex.split(command), "--quiet"], check=True)
    assert fetch_blobs(places, remote, [blob]) == 1
    assert read_blobs(store, [blob]) == {blob: b"a = 1\n"}
