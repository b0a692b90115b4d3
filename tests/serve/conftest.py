from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.serve.model import recipe_hash
from lanewright.serve.recipes import RECIPES

(RECIPE, *_) = RECIPES


@pytest.fixture
def model(places: Places) -> Path:
    """A made model, so that nothing has to be made."""
    folder = places.models / f"{RECIPE}-{recipe_hash(RECIPE)[:12]}"
    folder.mkdir(parents=True)
    return folder
