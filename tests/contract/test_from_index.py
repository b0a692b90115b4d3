"""Members of a wheel come from an index by ranges, once, and are what the wheel says they are."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.contract.releases import releases
from tests.contract.table import Table, Wheel
from tests.contract.wheels import Members, UnavailableError, members_of
from tests.upstream.daemon import free_port
from tests.upstream.wheels import make_wheel

# Not to be compressed, so that it would be felt if it were asked for.
WEIGHT = os.urandom(1 << 20)
FILES = {
    "vllm/one.py": b"one = 1\n",
    "vllm/kernels.so": WEIGHT,
    "vllm/config/two.py": b"two = 2\n",
    "vllm/config/table.json": b"{}",
    "vllm/more.so": WEIGHT,
    "vllm/three.py": b"three = 3\n",
}
WANTED = ("vllm/one.py", "vllm/config/")


class Server(ThreadingHTTPServer):
    """A package index with one wheel.

    Attributes:
        wheel: What it has.
        ranged: Bytes of it that were asked for so far.
        ranges: Whether it gives ranges.
    """

    wheel: Path
    ranged = 0
    ranges = True


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        content = self.server.wheel.read_bytes()
        if not self.path.endswith(".whl"):
            digest = hashlib.sha256(content).hexdigest()
            name = self.server.wheel.name
            self._answer(200, f'<a href="/{name}#sha256={digest}">{name}</a>'.encode(), {})
            return
        asked = self.headers.get("Range", "")
        if not asked or not self.server.ranges:
            self._answer(200, content, {})
            return
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, len(content) - int(last))
        end = int(last) + 1 if first else len(content)
        part = content[start:end]
        self.server.ranged += len(part)
        span = f"bytes {start}-{start + len(part) - 1}/{len(content)}"
        self._answer(206, part, {"Content-Range": span})

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        kind = "text/html" if body.startswith(b"<a ") else "application/octet-stream"
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(wheel: Path) -> Iterator[Server]:
    """Serve a wheel while the block runs."""
    server = Server(("127.0.0.1", 0), Handler)
    server.wheel = wheel
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def settings(port: int) -> dict[str, str]:
    """The environment of a pip that knows one index."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    index = f"http://127.0.0.1:{port}/simple"
    own = {"PIP_INDEX_URL": index, "PIP_CONFIG_FILE": "/dev/null", "PIP_RETRIES": "0"}
    own["PIP_NO_CACHE_DIR"] = "1"
    return {**kept, **own, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def described(wheel: Path) -> Wheel:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Wheel("vllm==1.0", "any", digest)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return make_wheel(tmp_path / "made", "1.0", FILES, distribution="vllm")


@dataclass(frozen=True)
class Fetched:
    """Members that came from an index which is gone again."""

    wheel: Wheel
    folder: Path
    members: Members
    ranged: int


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Fetched:
    folder = tmp_path_factory.mktemp("kept")
    wheel = make_wheel(tmp_path_factory.mktemp("made"), "1.0", FILES, distribution="vllm")
    with serving(wheel) as server:
        members = members_of(described(wheel), WANTED, folder, settings(server.server_port))
        return Fetched(described(wheel), folder, members, server.ranged)


def test_only_what_is_wanted_is_asked_for(fetched: Fetched) -> None:
    python = {each for each in fetched.members.names if each.startswith("vllm/")}
    assert python == {"vllm/one.py", "vllm/config/two.py"}
    assert all(fetched.members.read(each) == FILES[each] for each in python)
    assert 0 < fetched.ranged < len(WEIGHT)


def test_the_second_time_nothing_is_asked_for(fetched: Fetched) -> None:
    again = members_of(fetched.wheel, WANTED, fetched.folder, {"PATH": ""})
    assert again.read("vllm/one.py") == FILES["vllm/one.py"]


def test_what_is_not_kept_is_not_taken_for_absent(fetched: Fetched) -> None:
    assert fetched.members.read("vllm/never.py") is None
    with pytest.raises(KeyError, match=r"three\.py is needed"):
        fetched.members.read("vllm/three.py")


def test_other_members_are_other_results(wheel: Path, tmp_path: Path) -> None:
    with serving(wheel) as server:
        environment = settings(server.server_port)
        members_of(described(wheel), WANTED, tmp_path, environment)
        more = members_of(described(wheel), [*WANTED, "vllm/three.py"], tmp_path, environment)
    assert more.read("vllm/three.py") == FILES["vllm/three.py"]


def test_no_network_and_no_cache_is_told(wheel: Path, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no index that pip asks has vllm==1"):
        members_of(described(wheel), WANTED, tmp_path, settings(free_port()))


def test_a_wheel_of_another_hash_is_none(wheel: Path, tmp_path: Path) -> None:
    other = Wheel("vllm==1.0", "any", "0" * 64)
    with serving(wheel) as server, pytest.raises(ValueError, match="another sha256"):
        members_of(other, WANTED, tmp_path, settings(server.server_port))


def test_a_member_that_is_not_as_recorded_is_refused(tmp_path: Path) -> None:
    forged = make_wheel(tmp_path / "forged", "1.0", FILES, distribution="vllm", recorded=b"else")
    with serving(forged) as server, pytest.raises(ValueError, match="not what RECORD says"):
        members_of(described(forged), WANTED, tmp_path, settings(server.server_port))


def test_a_server_without_ranges_is_refused(wheel: Path, tmp_path: Path) -> None:
    with serving(wheel) as server:
        server.ranges = False
        with pytest.raises(ValueError, match="gives no ranges"):
            members_of(described(wheel), WANTED, tmp_path, settings(server.server_port))


def test_damage_in_the_cache_is_mended(wheel: Path, tmp_path: Path) -> None:
    with serving(wheel) as server:
        environment = settings(server.server_port)
        members_of(described(wheel), WANTED, tmp_path, environment)
        (kept,) = tmp_path.glob("*.zip")
        kept.write_bytes(kept.read_bytes()[:100])
        members = members_of(described(wheel), WANTED, tmp_path, environment)
    assert members.read("vllm/one.py") == FILES["vllm/one.py"]


def test_a_flashinfer_that_the_table_lacks_is_named(tmp_path: Path) -> None:
    requires = "Requires-Dist: flashinfer-python==9.9\n"
    wheel = make_wheel(
        tmp_path / "made", "1.0", FILES, distribution="vllm", metadata=requires.encode()
    )
    known = described(wheel)
    table = Table(
        {
            "wheel": [{"requirement": "vllm==1.0", "platform": "any", "sha256": known.sha256}],
            "members": {"vllm": list(WANTED), "flashinfer-python": ["flashinfer/"]},
        }
    )
    with serving(wheel) as server, pytest.raises(LookupError, match=r"flashinfer-python==9\.9"):
        releases(table, "1.0", tmp_path, settings(server.server_port))
