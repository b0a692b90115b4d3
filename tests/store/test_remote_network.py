"""Only the remote that was named is talked to, in one way, and failures say what to do."""

import os
import shutil
import socket
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.store.complaint import RemoteError, temporary
from lanewright.store.fetching import fetch_blobs, fetch_refs
from lanewright.store.git import GitError, Repository
from lanewright.store.network import environment
from lanewright.store.objects import MissingObjectError, commit_and_tree, lacking, read_blobs
from lanewright.store.remote import Remote
from lanewright.store.write import siblings
from tests.upstream.daemon import free_port, serving
from tests.upstream.diff import git
from tests.upstream.history import Upstream

MAIN = "refs/heads/main"


@pytest.fixture
def waits() -> list[float]:
    return []


def test_a_daemon_that_is_down_is_tried_three_times_and_named(
    places: Places, waits: list[float]
) -> None:
    remote = Remote(f"git://127.0.0.1:{free_port()}/vllm")
    with pytest.raises(RemoteError, match=rf"cannot reach {remote.url}: .*refused") as error:
        fetch_refs(places, remote, [MAIN], wait=waits.append)
    assert waits == [1.0, 4.0]
    assert error.value.exit_code is ExitCode.INPUT
    assert "needs no network" in (error.value.hint or "")


def test_a_daemon_that_comes_up_meanwhile_is_used(places: Places, upstream: Upstream) -> None:
    port = free_port()
    remote = Remote(f"git://127.0.0.1:{port}/vllm")
    with ExitStack() as stack:

        def wait(_: float) -> None:
            stack.enter_context(serving(upstream.path.parent, port=port))

        tips = fetch_refs(places, remote, [MAIN], wait=wait)
    assert tips == {MAIN: upstream.id("main")}


def test_a_refusal_is_not_tried_again(places: Places, remote: Remote, waits: list[float]) -> None:
    other = Remote(f"{remote.url}-other")
    with pytest.raises(RemoteError, match=r"refused: .*no such repository") as error:
        fetch_refs(places, other, [MAIN], wait=waits.append)
    assert waits == []
    assert f"git ls-remote {other.url}" in (error.value.hint or "")


def test_a_proxy_of_the_caller_is_used_and_its_failures_are_waited_for(
    places: Places, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def answer(listener: socket.socket) -> None:
        with suppress(OSError):  # the listener is closed when the test ends
            while True:
                connection, _ = listener.accept()
                with connection:
                    asked.append(connection.recv(4096).split(b"\r\n")[0])
                    connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")

    remote = Remote("https://upstream.invalid/vllm")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{listener.getsockname()[1]}")
        try:
            with pytest.raises(RemoteError, match="503"):
                fetch_refs(places, remote, [MAIN], wait=waits.append)
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
            thread.join()
    assert asked == [b"CONNECT upstream.invalid:443 HTTP/1.1"] * 3
    assert waits == [1.0, 4.0]


def test_ssh_asks_nothing_and_a_refused_key_is_not_tried_again(
    places: Places, waits: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "bin" / "ssh"
    script.parent.mkdir()
    script.write_text(
        f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\n'
        "echo 'git@example.org: Permission denied (publickey).' >&2\nexit 255\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    with pytest.raises(RemoteError, match=r"refused: .*Permission denied"):
        fetch_refs(places, Remote("git@example.org:vllm.git"), [MAIN], wait=waits.append)
    [asked] = (tmp_path / "asked").read_text().splitlines()
    assert "BatchMode=yes" in asked
    assert "git-upload-pack 'vllm.git'" in asked
    assert waits == []


@pytest.mark.parametrize(
    ("talk", "again"),
    [
        ("fatal: unable to access 'https://x/': Could not resolve host: x", True),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 502", True),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 429", True),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 403", False),
        ("error: RPC failed; curl 28 Operation too slow.", True),
        ("fatal: read error: Connection reset by peer", True),
        ("ssh: connect to host x port 22: Connection timed out", True),
        ("fatal: the remote end hung up unexpectedly", True),
        ("fatal: remote error: access denied\nfatal: the remote end hung up unexpectedly", False),
        ("remote: Repository not found.\nfatal: repository 'https://x/' not found", False),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", False),
        ("Host key verification failed.\nfatal: Could not read from remote repository.", False),
        ("fatal: remote error: upload-pack: not our ref " + "1" * 40, False),
        ("server certificate verification failed. CAfile: none CRLfile: none", False),
        ("fatal: something new", False),
    ],
)
def test_only_what_may_pass_by_itself_is_tried_again(talk: str, *, again: bool) -> None:
    assert temporary(talk) is again


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


def test_a_server_that_gives_no_object_by_id_is_told_what_to_set(
    places: Places, upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that speaks git's first protocol and knows no filter, as old ones do."""
    programs = tmp_path / "programs"
    programs.mkdir()
    real = shutil.which("git")
    (programs / "git").write_text(
        f'#!/bin/sh\nunset GIT_PROTOCOL GIT_CONFIG_PARAMETERS GIT_EXEC_PATH\nexec {real} "$@"\n'
    )
    (programs / "git").chmod(0o755)
    folder = git(tmp_path, "--exec-path").decode().strip()
    (programs / "git-daemon").symlink_to(Path(folder) / "git-daemon")
    monkeypatch.setenv("GIT_EXEC_PATH", str(programs))
    blob = upstream.blob("main~1:a.py")
    with serving(upstream.path.parent) as base:
        remote = Remote(f"{base}/vllm")
        with pytest.raises(RemoteError, match=f"{remote.url} does not give .* {blob}") as error:
            fetch_blobs(places, remote, [blob])
        assert "uploadpack.allowAnySHA1InWant true" in (error.value.hint or "")
        assert fetch_refs(places, remote, [MAIN]) == {MAIN: upstream.id("main")}
        assert fetch_blobs(places, remote, [blob]) == 0  # it gives all, whatever is asked for
