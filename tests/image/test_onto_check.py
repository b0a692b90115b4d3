"""``verify``: one byte of a layer, a label or the lock is enough."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanewright.image.onto.base import architecture_of
from lanewright.queue.lock import Lock, layer_of
from lanewright.queue.series import load_series
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.image.tamper import blob, encoded, load, replace, save

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(imaged: World, lock: Lock, tmp_path: Path, capfd: Capture) -> Path:
    """The sample lane's image on a base; whole."""
    architecture = architecture_of(load_series(imaged.project, "sample")) or ""
    paths = of_pin(imaged.repository, lock)
    base = Base([paths, {"etc/more": b"1"}], packed="gzip", architectures=[architecture])
    assert imaged.run("image", "--base", str(base.lay(tmp_path / "base"))) == 0
    assert imaged.run("verify") == 0
    capfd.readouterr()
    return onto.the_folder(imaged)


def flip(file: Path, place: int = -1) -> None:
    """Change one byte of a file that is this one's alone."""
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.unlink()
    file.write_bytes(content)


def layer(folder: Path, number: int) -> Path:
    return blob(folder, onto.manifest_of(folder)["layers"][number])


def edit_manifest(folder: Path, edit: Callable[[Any], object]) -> None:
    """Edit the manifest, and keep every digest right."""
    index = load(folder / "index.json")
    manifest = load(blob(folder, index["manifests"][0]))
    edit(manifest)
    replace(folder, index["manifests"][0], encoded(manifest))
    save(folder / "index.json", index)


def edit_config(folder: Path, edit: Callable[[Any], object]) -> None:
    """Edit the configuration, and keep every digest right."""

    def inner(manifest: Any) -> None:  # noqa: ANN401 - JSON
        config = load(blob(folder, manifest["config"]))
        edit(config)
        replace(folder, manifest["config"], encoded(config))

    edit_manifest(folder, inner)


def label(key: str, value: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        edit_config(folder, lambda config: config["config"]["Labels"].update({key: value}))

    return change


BASE = "org.opencontainers.image.base.digest"
CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a byte of the lane's layer": (lambda f: flip(layer(f, -1), 5000), "is not what its name says"),
    "a byte of a layer below": (lambda f: flip(layer(f, 0)), "is not what its name says"),
    "a layer cut short": (lambda f: layer(f, 0).unlink(), "is missing, or no regular file"),
    "a label": (label("dev.lanewright.tree", "0" * 40), "its label dev.lanewright.tree is '0000"),
    "the base's label": (label("maker", "me"), "is missing, or no regular file"),
    "another base": (label(BASE, f"sha256:{'0' * 64}"), "and the store has no such base"),
    "no base": (label(BASE, ""), f"its label {BASE} is missing"),
    "the entry point": (
        lambda f: edit_config(f, lambda c: c["config"].update({"Entrypoint": ["sh"]})),
        "is missing, or no regular file",
    ),
    "an annotation": (
        lambda f: edit_manifest(f, lambda m: m["annotations"].update({"x": "y"})),
        "is missing, or no regular file",
    ),
    "layers exchanged": (
        lambda f: edit_manifest(f, lambda m: m["layers"].reverse()),
        "is missing, or no regular file",
    ),
    "a layer more": (
        lambda f: edit_manifest(f, lambda m: m["layers"].append(m["layers"][-1])),
        "differ in layers",
    ),
    "a stray file": (lambda f: (f / "more").write_text(""), "more is a stray file"),
    "a stray link": (lambda f: (f / "more").symlink_to("/"), "more is a stray file"),
    "index.json": (lambda f: (f / "index.json").write_text("{}"), "cannot be read"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_whatever_is_changed_is_found(
    imaged: World, folder: Path, capfd: Capture, case: str
) -> None:
    change, told = CHANGES[case]
    change(folder)
    assert imaged.run("verify", "--image") == 5
    captured = capfd.readouterr()
    assert f"{folder} is not the image of its lock" in captured.err
    assert told in captured.err
    assert f"next: it is made again: rm -r {folder}" in captured.err
    assert captured.out == ""
    assert imaged.run("verify") == 5


def test_a_byte_of_the_lock(imaged: World, folder: Path, lock: Lock, capfd: Capture) -> None:
    assert folder.exists()
    digest = layer_of(lock).digest
    other = digest[:-1] + ("0" if digest[-1] != "0" else "1")
    text = imaged.lock.read_text()
    imaged.lock.write_text(text.replace(digest, other))
    assert json.loads(imaged.lock.read_text())["layer"]["digest"] == other
    assert imaged.run("verify") == 5
    assert "was edited: its seal does not fit what it says" in capfd.readouterr().err


def test_a_damaged_base_is_named_too(imaged: World, folder: Path, capfd: Capture) -> None:
    shared = layer(folder, 0)
    content = bytearray(shared.read_bytes())
    content[-1] ^= 1
    shared.write_bytes(content)
    (kept,) = imaged.places.base_images.glob("sha256-*")
    assert imaged.run("verify", "--image") == 5
    assert str(kept) in capfd.readouterr().err
