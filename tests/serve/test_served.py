"""Which model a server serves, and what stands for it in records."""

from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.queue.series_model import ModelSpec
from lanewright.serve.environment import LaneEnv
from lanewright.serve.model import model_name, recipe_hash
from lanewright.serve.named_files import named_hash
from lanewright.serve.recipes import RECIPES
from lanewright.serve.served import Wants, identity, is_named, served_model

(RECIPE, *_) = RECIPES
GENERATED = Wants("lane", ModelSpec(recipe=RECIPE))


def folder_of(folder: Path) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").touch()
    return folder


def test_a_named_model_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model")
    wants = Wants("lane", ModelSpec(name="somebody/a-model"), str(folder))
    wants.require()
    env = LaneEnv(tmp_path / "no python", tmp_path, tmp_path)
    found = served_model(Places(tmp_path / "store", tmp_path / "state"), env, wants)
    assert found.folder == folder
    digest = named_hash(folder)
    content = named_hash(folder, times=True)
    told = {"recipe": None, "name": "somebody/a-model", "hash": digest, "content": content}
    assert found.record() == told
    assert identity(wants) == digest
    assert found.content == content


def test_what_a_container_would_not_see_is_refused_for_one_alone(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model")
    (tmp_path / "tensors").touch()
    (folder / "more.safetensors").symlink_to(tmp_path / "tensors")
    wants = Wants("lane", ModelSpec(name="somebody/a-model"), str(folder))
    wants.require()
    with pytest.raises(LanewrightError, match=r"more\.safetensors is a link to"):
        wants.require(boxed=True)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model")
    (folder / "merges.txt").symlink_to("/proc/self/mem")
    with pytest.raises(LanewrightError, match=f"model {folder}: .*error") as error:
        identity(Wants("lane", ModelSpec(name="somebody/a-model"), str(folder)))
    assert error.value.hint == f"see what is there: ls -lR {folder}"


def test_a_generated_model_is_known_before_it_is_made() -> None:
    GENERATED.require()
    assert identity(GENERATED) == recipe_hash(RECIPE)


def test_a_recipe_that_there_is_not() -> None:
    with pytest.raises(LanewrightError, match="no model recipe 'other'"):
        Wants("lane", ModelSpec(recipe="other")).require()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (f"/anywhere/{model_name(RECIPE)}", True),
        ("/anywhere/other", False),
    ],
)
def test_what_a_server_of_a_generated_model_was_given(given: str, *, named: bool) -> None:
    assert is_named(GENERATED, given) == named


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("somebody/a-model", True),
        ("/models/it", True),
        ("/lane/model/snapshots/a1", True),
        ("somebody/another", False),
    ],
)
def test_what_a_server_of_a_named_model_was_given(given: str, *, named: bool) -> None:
    wants = Wants("lane", ModelSpec(name="somebody/a-model"), "/models/it")
    assert is_named(wants, given) == named
