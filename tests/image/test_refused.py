"""What is refused once it is made, or found, does not stay among the images of the store."""

from pathlib import Path

import pytest

from lanewright.image import layout as layout_module
from lanewright.image.documents import documents
from lanewright.image.onto.base import architecture_of
from lanewright.image.onto.composed import compose
from lanewright.image.onto.layout import image_folder, lay_image
from lanewright.image.opened.image import OpenImage
from lanewright.image.opened.origin import brought
from lanewright.queue.lock import Lock
from lanewright.queue.series import load_series
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.image.conftest import ROOT

Capture = pytest.CaptureFixture[str]
HOOKED = f"{ROOT}/vllm/config.py"


@pytest.fixture
def architecture(imaged: World, lock: Lock) -> str:
    assert lock.layer
    return architecture_of(load_series(imaged.project, "sample")) or ""


@pytest.fixture
def base(imaged: World, lock: Lock, architecture: str, tmp_path: Path) -> Path:
    paths = of_pin(imaged.repository, lock)
    return Base([paths, {"etc/more": b"1"}], architectures=[architecture]).lay(tmp_path / "base")


def there(world: World) -> list[str]:
    """All that is among the images of the store, hidden or not, but the lane's layer."""
    return sorted(
        p.name for p in world.places.layouts.iterdir() if "-on-" in p.name or p.name[0] == "."
    )


def flipped(file: Path) -> None:
    """Change a byte of a file in all its places."""
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def planted(world: World, lock: Lock, folder: Path, architecture: str) -> OpenImage:
    """An image on a base that is not of the pin, as none is made any more."""
    paths = of_pin(world.repository, lock)
    made = Base([paths, {HOOKED: b"edited = 1\n"}], architectures=[architecture]).lay(folder)
    base = brought(world.places, str(made), architecture)
    place = image_folder(world.places, lock, base)
    lay_image(world.repository, lock, base, compose(lock, base), place)
    assert there(world) == [place.name]
    return base


def test_an_image_of_a_damaged_base_is_not_left(imaged: World, base: Path, capfd: Capture) -> None:
    assert imaged.run("image", "--base", str(base)) == 0
    # What is in its layers is known by now, and is not read again.
    folder = onto.the_folder(imaged)
    named = onto.manifest_of(folder)["layers"][0]["digest"].replace(":", "/")
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    (kept,) = imaged.places.base_images.glob("sha256-*")
    flipped(kept / "blobs" / named)
    capfd.readouterr()
    assert imaged.run("image", "--base", f"sha256:{kept.name.removeprefix('sha256-')}") == 5
    err = capfd.readouterr().err
    assert "is not what its name says" in err
    assert f"next: it is made again: rm -r {kept} && lanewright image sample" in err
    assert there(imaged) == []


def test_out_is_not_left_either(imaged: World, base: Path, tmp_path: Path, capfd: Capture) -> None:
    assert imaged.run("image", "--base", str(base)) == 0
    (kept,) = imaged.places.base_images.glob("sha256-*")
    named = onto.manifest_of(onto.the_folder(imaged))["layers"][0]["digest"].replace(":", "/")
    flipped(kept / "blobs" / named)
    out = tmp_path / "out"
    digest = f"sha256:{kept.name.removeprefix('sha256-')}"
    assert imaged.run("image", "--base", digest, "--out", str(out)) == 5
    assert f"{out} is not the image of its lock" in capfd.readouterr().err
    assert not out.exists()
    assert not list(tmp_path.glob(".making-*"))


def test_an_image_on_a_base_that_is_refused_now_is_taken_out(
    imaged: World, lock: Lock, architecture: str, tmp_path: Path, capfd: Capture
) -> None:
    base = planted(imaged, lock, tmp_path / "edited", architecture)
    assert imaged.run("image", "--base", base.digest) == 1
    assert "vllm/config.py is " in capfd.readouterr().err
    assert there(imaged) == []


def test_smoke_takes_out_an_image_on_another_base(
    imaged: World, lock: Lock, architecture: str, tmp_path: Path, capfd: Capture
) -> None:
    planted(imaged, lock, tmp_path / "edited", architecture)
    assert imaged.run("image", "smoke") == 5
    assert "vllm/config.py is " in capfd.readouterr().err
    assert there(imaged) == []


@pytest.mark.parametrize("command", ["image", "image smoke"])
def test_what_was_changed_afterwards_is_taken_out(
    imaged: World, base: Path, capfd: Capture, command: str
) -> None:
    assert imaged.run("image", "--base", str(base)) == 0
    folder = onto.the_folder(imaged)
    (folder / "stray").write_text("")
    capfd.readouterr()
    more = ["--base", str(base)] if command == "image" else []
    assert imaged.run(*command.split(), *more) == 5
    err = capfd.readouterr().err
    assert "stray is a stray file: no document leads to it" in err
    assert "next: it is made again: lanewright image sample" in err
    assert there(imaged) == []
    assert imaged.run("image", "--base", str(base)) == 0


def test_verify_takes_nothing_out(imaged: World, base: Path) -> None:
    assert imaged.run("image", "--base", str(base)) == 0
    folder = onto.the_folder(imaged)
    (folder / "stray").write_text("")
    assert imaged.run("verify", "--image") == 5
    assert there(imaged) == [folder.name]


def test_a_layer_that_is_refused_is_not_left(
    imaged: World, lock: Lock, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    def damaged(of: Lock) -> dict[str, bytes]:
        """As a disk may give them."""
        return {path: raw.replace(b"amd64", b"amd65") for path, raw in documents(of).items()}

    assert lock.layer
    monkeypatch.setattr(layout_module, "documents", damaged)
    assert imaged.run("image") == 5
    assert "is not the image of its lock" in capfd.readouterr().err
    assert list(imaged.places.layouts.iterdir()) == []
