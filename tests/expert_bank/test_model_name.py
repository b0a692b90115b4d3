"""A usage file's model against the one that is served."""

import itertools

import pytest

from expert_bank.model_name import same_model
from lanewright.serve.model import model_name, recipe_hash
from lanewright.serve.recipes import RECIPES


@pytest.mark.parametrize(("said", "served"), [*itertools.product(RECIPES, RECIPES)])
def test_generated_models_are_told_apart_by_their_folders(said: str, served: str) -> None:
    for folder in (f"/cache/models/{model_name(served)}", f"{model_name(served)}/"):
        assert same_model(recipe_hash(said), folder) is (said == served)


@pytest.mark.parametrize(
    ("said", "served", "same"),
    [
        ("org/model", "org/model", True),
        ("org/model", "org/other", False),
        ("org/model", "other/model", False),
        ("org/model", "/hub/models--org--model/snapshots/0f3d", True),
        ("/hub/models--org--model/snapshots/0f3d", "org/model", True),
        ("org/other", "/hub/models--org--model/snapshots/0f3d", False),
        ("/a/model", "/b/model", True),
        ("/a/model", "/b/model/", True),
        ("/a/model", "/b/other", False),
        ("model-0123456789ab", "/models/model-0123456789ab", True),
        ("/models/model-0123456789ab", "/m/model-ab0123456789", False),
        ("0123456789ab" + "c" * 52, "/models/model-0123456789ab", True),
        ("0123456789ac" + "c" * 52, "/models/model-0123456789ab", False),
        ("0" * 64, "org/model", None),
        ("0" * 64, "/models/model-0123456789abc", None),
        ("0" * 63, "/models/model-000000000000", False),
    ],
)
def test_names_are_compared_as_far_as_they_go(said: str, served: str, same: bool | None) -> None:  # noqa: FBT001
    assert same_model(said, served) is same
