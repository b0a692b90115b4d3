"""The image of the two banks, on the base that is made here, in a real container.

Base and layer are the store's; the base is made once, in minutes, and found by its key after that.
"""

import json
import subprocess
from pathlib import Path

import pytest

from lanewright.image.opened.contents import contents_of
from lanewright.image.opened.image import open_image
from lanewright.places import Places
from tests.engine.imaged import LANE, done, image, lanewright, state
from tests.image import onto

__all__ = ["image", "state"]


@pytest.fixture(scope="module")
def booted(image: Path) -> str:
    """The lane has run outside of a container, too."""
    assert image.is_dir()
    return done("boot", LANE, "--no-server")


@pytest.mark.image
def test_it_answers_in_a_container_as_outside(image: Path, booted: str, state: Path) -> None:
    assert f"lane {LANE}: passed" in booted
    told = json.loads(done("image", "smoke", LANE, "--json"))
    config = onto.config_of(image)
    version = config["config"]["Labels"]["org.opencontainers.image.version"]
    assert told["version"] == version
    assert told["folder"] == str(image)
    assert told["files"] > 150
    assert told["answers"] == 4
    assert any("moe_hot_experts" in proof or "picks" in proof for proof in told["proofs"])
    assert (state / "runs" / f"{LANE}.image").is_dir()
    listed = subprocess.run(
        ["podman", "ps", "--all", "--format={{.Names}}"], capture_output=True, text=True, check=True
    )
    assert "lanewright-smoke" not in listed.stdout


@pytest.mark.image
def test_another_answer_outside_is_seen(image: Path, booted: str, state: Path) -> None:
    assert image.is_dir()
    assert booted
    (record,) = (state / "runs" / LANE).glob("*/record.json")
    before = record.read_text()
    found = json.loads(before)
    found["boots"]["offline"]["completions"][1]["ids"][3] += 1
    record.write_text(json.dumps(found))
    try:
        ended = lanewright("image", "smoke", LANE)
    finally:
        record.write_text(before)
    assert ended.returncode == 5
    assert "the engine in a container does not answer as the lane's does" in ended.stderr
    assert "prompt 2 'def barrier(rows):': ids differ" in ended.stderr


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("buildah", marks=pytest.mark.image),
        pytest.param("podman", marks=pytest.mark.engine_full),
    ],
)
def test_another_tool_makes_the_same_files(image: Path, tmp_path: Path, backend: str) -> None:
    told = json.loads(done("image", LANE, "--backend", backend, "--json"))
    folder = tmp_path / "layout"
    push = ["buildah", "push", "--quiet", told["name"], f"oci:{folder}:it"]
    subprocess.run(push, check=True, capture_output=True)
    # The store's notes of what is in a layer are for that layer's digest; these are of no use later.
    places = Places(tmp_path / "store", tmp_path / "state")
    ours, theirs = (contents_of(places, open_image(each, None)) for each in (image, folder))
    # What a build runs in; no file of the image.
    made = {
        path
        for path in theirs.keys() - ours.keys()
        if path.startswith(("run/", "proc", "sys", "dev"))
    }
    assert theirs.keys() - made == ours.keys()
    unlike = {path for path in ours if ours[path] != theirs[path]}
    assert unlike == set()
    labels = open_image(image, None).labels
    assert labels.items() <= open_image(folder, None).labels.items()
