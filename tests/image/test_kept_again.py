"""A base of the store that was damaged: told with what mends it, and had again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.image.onto.base import architecture_of
from lanewright.queue.lock import Lock
from lanewright.queue.series import load_series
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.image.in_skopeos_place import publish
from tests.image.naming import named

Capture = pytest.CaptureFixture[str]
NAME = "localhost:1/vllm/vllm-openai:nightly"


def flipped(file: Path) -> None:
    """Another file with one byte changed, so that what is linked to it stays."""
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.unlink()
    file.write_bytes(content)


def cut(file: Path) -> None:
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content[:-1])


def blob(layout: Path, digest: str) -> Path:
    return layout / "blobs" / digest.replace(":", "/")


def documents(kept: Path) -> list[Path]:
    """Its index, manifest and configuration."""
    (entry,) = json.loads((kept / "index.json").read_bytes())["manifests"]
    manifest = blob(kept, entry["digest"])
    config = json.loads(manifest.read_bytes())["config"]["digest"]
    return [kept / "index.json", manifest, blob(kept, config)]


def layer(kept: Path) -> Path:
    first = json.loads(documents(kept)[1].read_bytes())["layers"][0]
    return blob(kept, first["digest"])


@pytest.fixture
def kept(imaged: World, lock: Lock, served: Path, tmp_path: Path) -> Path:
    """The mirrored base of the lane, whose image is made."""
    base = Base([of_pin(imaged.repository, lock)], architectures=["arm64"]).lay(tmp_path / "base")
    named(imaged, "sample", NAME, publish(served, base))
    assert imaged.run("image", "mirror") == 0
    assert imaged.run("image") == 0
    (folder,) = imaged.places.base_images.glob("sha256-*")
    return folder


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_damaged_document_is_mirrored_again(
    imaged: World, kept: Path, capfd: Capture, number: int
) -> None:
    flipped(documents(kept)[number])
    capfd.readouterr()
    assert imaged.run("image") == 1
    assert "next: lanewright image mirror sample" in capfd.readouterr().err
    assert imaged.run("verify", "--image") == 5
    err = capfd.readouterr().err
    assert "its base is damaged" in err
    assert "lanewright image mirror sample" in err
    assert imaged.run("image", "mirror") == 0
    assert imaged.run("image") == 0
    assert imaged.run("verify", "--image") == 0


@pytest.mark.parametrize("damage", [flipped, cut, Path.unlink])
def test_a_damaged_layer_is_mirrored_again(
    imaged: World, kept: Path, capfd: Capture, damage: Callable[[Path], None]
) -> None:
    damage(layer(kept))
    capfd.readouterr()
    assert imaged.run("image", "mirror") == 0
    assert "is kept already" not in capfd.readouterr().err
    assert imaged.run("image", "mirror") == 0
    assert "is kept already" in capfd.readouterr().err
    assert imaged.run("image") == 0
    assert not list(imaged.places.base_images.glob(".making*"))


def test_a_damaged_layer_is_told_with_the_mirror(imaged: World, kept: Path, capfd: Capture) -> None:
    folder = onto.the_folder(imaged)
    content = layer(kept).read_bytes()
    layer(kept).write_bytes(content[:-1] + b"x")
    capfd.readouterr()
    assert imaged.run("verify", "--image") == 5
    mend = f"rm -r {folder} && lanewright image mirror sample && lanewright image sample"
    assert f"it is made again: {mend}" in capfd.readouterr().err


def test_what_is_there_stays_until_there_is_another(
    imaged: World, kept: Path, served: Path
) -> None:
    flipped(layer(kept))
    shutil.rmtree(served)
    before = onto.contents(kept)
    assert imaged.run("image", "mirror") == 1
    assert onto.contents(kept) == before


def test_a_base_that_was_handed_over(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    here = architecture_of(load_series(imaged.project, "sample")) or ""
    base = Base([of_pin(imaged.repository, lock)], architectures=[here]).lay(tmp_path / "base")
    assert imaged.run("image", "--base", str(base)) == 0
    (kept,) = imaged.places.base_images.glob("sha256-*")
    digest = kept.name.replace("-", ":")
    folder = onto.the_folder(imaged)
    (folder / "stray").write_text("")
    capfd.readouterr()
    assert imaged.run("verify", "--image") == 5
    again = f"rm -r {folder} && lanewright image sample --base {digest}"
    assert f"it is made again: {again}" in capfd.readouterr().err
    (folder / "stray").unlink()
    flipped(documents(kept)[2])
    assert imaged.run("image", "--base", digest) == 1
    handed = f"rm -r {kept} && lanewright image sample --base IMAGE"
    assert f"next: {handed}" in capfd.readouterr().err
    # Another copy of it is enough.
    assert imaged.run("image", "--base", str(base)) == 0
    assert imaged.run("verify", "--image") == 0
