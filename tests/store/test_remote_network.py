"""Only the remote that was named is talked to, in one way, and failures say what to do."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.store.complaint import RemoteError, temporary
from lanewright.store.fetching import fetch_blobs, fetch_refs
from lanewright.store.git import Repository
from lanewright.store.objects import lacking
from lanewright.store.remote import Remote
from tests.upstream.daemon import free_port, serving
from tests.upstream.diff import git
from tests.upstream.history import Upstream

MAIN = "refs/heads/main"
LONG = b"".join(b"%d is a number\n" % number for number in range(999))


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


@pytest.fixture
def old_server(
    upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Remote]:
    """One that speaks git's first protocol and knows no filter."""
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
    with serving(upstream.path.parent) as base:
        yield Remote(f"{base}/vllm")


def test_a_server_that_gives_no_object_by_id_is_told_what_to_set(
    places: Places, upstream: Upstream, old_server: Remote
) -> None:
    blob = upstream.blob("main~1:a.py")
    with pytest.raises(RemoteError, match=f"{old_server.url} does not give .* {blob}") as error:
        fetch_blobs(places, old_server, [blob])
    assert "uploadpack.allowAnySHA1InWant true" in (error.value.hint or "")


def test_a_server_without_filters_gives_all(
    places: Places, store: Repository, remote: Remote, upstream: Upstream, old_server: Remote
) -> None:
    upstream.commit({"a.py": LONG, "b.py": b"b = 1\n"})
    fetch_refs(places, remote, [MAIN])
    new = upstream.commit({"a.py": LONG + b"more\n", "b.py": b"b = 1\n"})
    # It sends the new blob as a delta on the old one, which the store was not given.
    assert fetch_refs(places, old_server, [MAIN]) == {MAIN: new}
    assert lacking(store, [upstream.blob("main:a.py")]) == []
    store.run("fsck", "--full", "--strict")
