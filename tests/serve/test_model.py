import shutil
import sys
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.serve.child import BootError
from lanewright.serve.environment import LaneEnv
from lanewright.serve.makers import maker_of
from lanewright.serve.model import content_hash, ensure_model, model_name, recipe_hash
from lanewright.serve.recipes import RECIPES

(RECIPE, *_) = RECIPES


def python(tmp_path: Path, program: str) -> LaneEnv:
    """A lane whose Python is a small shell program; $3 is the folder to fill."""
    file = tmp_path / "python"
    file.write_text(f"#!/bin/sh\n{program}\n")
    file.chmod(0o755)
    return LaneEnv(file, tmp_path / "site", tmp_path / "pyc")


def test_a_model_is_made_once(places: Places, tmp_path: Path) -> None:
    env = python(tmp_path, 'cat "$2" > "$3/config.json"; echo made >> "$3/../../count"')
    folder = ensure_model(places, env, RECIPE)
    assert folder == places.models / f"{RECIPE}-{recipe_hash(RECIPE)[:12]}"
    assert (folder / "config.json").read_text().startswith("{")
    assert ensure_model(places, env, RECIPE) == folder
    assert (places.models / "count").read_text() == "made\n"


def test_a_failed_maker_leaves_nothing_and_is_tried_again(places: Places, tmp_path: Path) -> None:
    env = python(tmp_path, 'echo half > "$3/config.json"; echo "no room"; exit 3')
    with pytest.raises(BootError, match="exit status 3") as caught:
        ensure_model(places, env, RECIPE)
    assert "no room" in str(caught.value)
    assert not [path for path in places.models.iterdir() if path.is_dir()]
    assert ensure_model(places, python(tmp_path, "exit 0"), RECIPE).is_dir()


def test_an_unknown_recipe_is_named(places: Places, tmp_path: Path) -> None:
    env = LaneEnv(Path(sys.executable), tmp_path / "site", tmp_path / "pyc")
    with pytest.raises(LanewrightError, match=f"'other'; known: {RECIPE}"):
        ensure_model(places, env, "other")


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    places = Places(tmp_path / "store", tmp_path / "state")
    with pytest.raises(LanewrightError, match=r"cannot make the folder .*store"):
        ensure_model(places, python(tmp_path, "exit 0"), RECIPE)


@pytest.mark.parametrize("recipe", RECIPES.values())
def test_widths_suit_every_cpu_kernel(recipe: dict[str, int]) -> None:
    widths = ("hidden_size", "intermediate_size", "moe_intermediate_size", "head_dim")
    found = [recipe[name] for name in widths if name in recipe]
    assert len(found) >= 3
    assert all(width % 32 == 0 for width in found)


def test_a_model_made_of_another_is_made_after_it(places: Places, tmp_path: Path) -> None:
    env = python(tmp_path, 'echo "$(basename "$1") of $4" > "$3/made"')
    wide = ensure_model(places, env, "qwen3-moe-trained-wide")
    trained = places.models / model_name("qwen3-moe-trained")
    assert (wide / "made").read_text() == f"widen_model.py of {trained}\n"
    assert (trained / "made").read_text() == "train_model.py of \n"


def test_a_change_of_the_training_is_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe_hash("qwen3-moe-trained"), recipe_hash(RECIPE)
    loop = next(
        file
        for file in maker_of(RECIPES["qwen3-moe-trained"]).sources()
        if file.match("training/loop.py")
    )
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda file: real(file) + b"#" * (file == loop))
    after = recipe_hash("qwen3-moe-trained"), recipe_hash(RECIPE)
    assert (before[0] != after[0], before[1] != after[1]) == (True, False)


def test_a_model_that_was_made_again_with_other_weights_is_told_apart(
    places: Places, tmp_path: Path
) -> None:
    program = 'echo {} > "$3/config.json"; echo weights %s > "$3/model.safetensors"'
    folder = ensure_model(places, python(tmp_path, program % 1), RECIPE)
    first = content_hash(folder)
    (folder / "beside.txt").write_text("no part of it")
    assert content_hash(folder) == first
    found = set()
    for number in (1, 2):
        shutil.rmtree(folder)
        assert ensure_model(places, python(tmp_path, program % number), RECIPE) == folder
        found.add(content_hash(folder))
    assert first in found
    assert len(found) == 2


def test_where_a_weight_lies_is_a_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_text("weights")
    before = content_hash(tmp_path)
    (tmp_path / "a.safetensors").rename(tmp_path / "b.safetensors")
    assert content_hash(tmp_path) != before
