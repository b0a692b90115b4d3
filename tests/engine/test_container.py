"""The image of the two banks, on the base that is made here, in a real container.

Base and layer are the store's; the base is made once, in minutes, and found by its key after that.
"""

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from lanewright.image.opened.contents import contents_of
from lanewright.image.opened.image import open_image
from lanewright.places import Places
from tests.engine.imaged import LANE, done, image, lanewright, state
from tests.image import onto
from tests.image.docker_daemon import daemon
from tests.image.programs import output

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
        pytest.param("docker", marks=pytest.mark.engine_full),
    ],
)
def test_another_tool_makes_the_same_files(
    image: Path, tmp_path: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as running:
        if backend == "docker":
            monkeypatch.setenv("DOCKER_HOST", running.enter_context(daemon(tmp_path)))
            require_builder()
        told = json.loads(done("image", LANE, "--backend", backend, "--json"))
        folder = pushed(backend, told["name"], tmp_path)
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


def pushed(backend: str, name: str, folder: Path) -> Path:
    """A tool's image as a layout."""
    layout, saved = folder / "layout", folder / "saved.tar"
    if backend == "docker":
        output("docker", "save", f"--output={saved}", name)
        output("skopeo", "copy", f"docker-archive:{saved}", f"oci:{layout}:it")
    else:
        output("buildah", "push", "--quiet", name, f"oci:{layout}:it")
    return layout


def require_builder() -> None:
    """Skip where docker's command is one that builds by a component of its own, which is missing."""
    version = output("docker", "version", "--format={{.Client.Version}}")
    asked = subprocess.run(["docker", "buildx", "version"], capture_output=True, check=False)
    if int(version.partition(".")[0]) >= 23 and asked.returncode:
        pytest.skip(f"docker {version} is here without buildx")
