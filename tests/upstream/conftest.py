"""The stand-in upstream in small, made once; a test that changes it works on a copy."""

import shutil
from pathlib import Path

import pytest

from tests.upstream.stand_in.miniature import miniature
from tests.upstream.stand_in.repository import StandIn


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    """A repository that no test may change."""
    return miniature(tmp_path_factory.mktemp("stand-in") / "upstream.git")


@pytest.fixture
def own_stand_in(stand_in: StandIn, tmp_path: Path) -> StandIn:
    """A copy for a test that pushes to it."""
    copy = shutil.copytree(stand_in.path, tmp_path / "upstream.git")
    return StandIn(copy, stand_in.main, stand_in.heads)
