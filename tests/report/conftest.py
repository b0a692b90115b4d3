"""A lane's report, as data."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.upstream.standing import OneLane

Told = Callable[..., dict[str, Any]]


@pytest.fixture
def told(capfd: pytest.CaptureFixture[str]) -> Told:
    """Read a project's report; ``code`` is what the command must end with."""

    def read(world: OneLane, *, code: int = 3) -> dict[str, Any]:
        capfd.readouterr()
        assert world.run("report", "--json") == code
        found: dict[str, Any] = json.loads(capfd.readouterr().out)
        return found

    return read
