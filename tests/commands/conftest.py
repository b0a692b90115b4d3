"""A project whose lane is built already."""

import pytest

from tests.commands.stand_in_lane import lay
from tests.conftest import World

__all__ = ["lay"]


@pytest.fixture
def built(world: World, capfd: pytest.CaptureFixture[str]) -> World:
    """The sample project with a lock; nothing of its build is left in the captured output."""
    assert world.run("build") == 0
    capfd.readouterr()
    return world
