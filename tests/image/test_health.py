"""What asks a server in a container for its health, as a shell runs it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanewright.image.container.command import health
from lanewright.queue.series_run import RunSpec
from tests.upstream.web import Answer, Web, serving


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as server:
        yield server


def asked(web: Web, path: str) -> int:
    """How the shell of a container ends that runs it."""
    port = int(web.url.rpartition(":")[2])
    command = ["sh", "-c", health(RunSpec(port=port, health=path))]
    return subprocess.run(command, check=False, capture_output=True, timeout=30).returncode


def test_it_asks_for_that_path_alone(web: Web) -> None:
    path = "/v1/health-check_1.~?full=1&deep=%20%2F&x="
    web.answers[path] = Answer({})
    assert asked(web, path) == 0
    assert [each.path for each in web.asked] == [path]


def test_a_server_that_is_not_well(web: Web) -> None:
    web.answers["/health"] = Answer(status=503)
    assert asked(web, "/health") != 0


@pytest.mark.parametrize(
    "path",
    [
        "/$(touch {})",
        "/`touch {}`",
        "/';touch {};'",
        '/";touch {};"',
        "/'+open('{}','w').name+'",
        '/"+open("{}","w").name+"',
        '/\\"+open("{}","w").name+"',
    ],
)
def test_nothing_in_it_is_run(web: Web, tmp_path: Path, path: str) -> None:
    # A series has no such path; whatever comes here is quoted all the same.
    left = tmp_path / "left"
    asked(web, path.format(left))
    assert not left.exists()
