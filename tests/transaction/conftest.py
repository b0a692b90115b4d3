"""A small project without lanes."""

from pathlib import Path

import pytest

from lanewright.project import Project
from tests.conftest import UPSTREAM


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "upstream.toml").write_text(UPSTREAM)
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    return Project.find(tmp_path)
