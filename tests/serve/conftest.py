from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.serve.environment import LaneEnv
from lanewright.serve.model import recipe_hash
from lanewright.serve.recipes import RECIPES

(RECIPE, *_) = RECIPES


@pytest.fixture
def model(places: Places) -> Path:
    """A made model, so that nothing has to be made."""
    folder = places.models / f"{RECIPE}-{recipe_hash(RECIPE)[:12]}"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def lane(tmp_path: Path) -> LaneEnv:
    """A lane whose tree holds the overlay."""
    (tmp_path / "site" / "expert_bank").mkdir(parents=True)
    return LaneEnv(tmp_path / "python", tmp_path / "site", tmp_path / "pyc")
