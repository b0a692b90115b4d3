"""Where nothing runs containers: the layer all the same, and what is missing for the rest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import World


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has git and Python alone."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "env", "sh"):
        found = next(
            Path(place, name)
            for place in os.environ["PATH"].split(":")
            if Path(place, name).exists()
        )
        (folder / name).symlink_to(found)
    return {**os.environ, "PATH": str(folder)}


def lanewright(
    world: World, environ: dict[str, str], *words: str
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "lanewright", "-C", str(world.root), *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_the_layer_is_made_and_the_rest_is_told(imaged: World, bare: dict[str, str]) -> None:
    assert lanewright(imaged, bare, "build").returncode == 0
    base = lanewright(imaged, bare, "image", "base", "--optional")
    assert base.returncode == 0, base.stderr
    for tool in ("mmdebstrap", "buildah"):
        assert tool in base.stderr
    assert "apt-get install" in base.stderr
    made = lanewright(imaged, bare, "image")
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("sha256:")
    smoke = lanewright(imaged, bare, "image", "smoke", "--optional")
    assert smoke.returncode == 0
    assert "not run in a container" in smoke.stderr
    assert lanewright(imaged, bare, "verify").returncode == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["image", "base"], "apt-get install"),
        (["image", "mirror"], "names no base to mirror"),
        (["image", "--base", "containers-storage:x"], "takes skopeo, and it is not on PATH"),
        (["image", "run"], "there is no image of its lock on this machine"),
    ],
)
def test_asked_for_they_fail(
    imaged: World, bare: dict[str, str], words: list[str], told: str
) -> None:
    assert lanewright(imaged, bare, "build").returncode == 0
    ended = lanewright(imaged, bare, *words)
    assert ended.returncode == 1
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr
