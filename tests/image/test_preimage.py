"""A base that is not of the pin is refused, by file and by both ids."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.image.onto.base import architecture_of
from lanewright.image.onto.composed import compose
from lanewright.image.onto.layout import image_folder, lay_image
from lanewright.image.opened.origin import brought
from lanewright.queue.lock import Lock
from lanewright.queue.series import load_series
from lanewright.store.objects import blob_id, files
from tests.conftest import World
from tests.image.bases import Base, of_pin
from tests.image.conftest import ROOT
from tests.image.naming import named

Capture = pytest.CaptureFixture[str]
HOOKED = f"{ROOT}/vllm/config.py"
Paths = dict[str, bytes | str | None]


@pytest.fixture
def paths(imaged: World, lock: Lock) -> Paths:
    return of_pin(imaged.repository, lock)


def image(imaged: World, tmp_path: Path, *layers: Paths) -> int:
    architecture = architecture_of(load_series(imaged.project, "sample")) or ""
    base = Base(layers, architectures=[architecture])
    return imaged.run("image", "--base", str(base.lay(tmp_path / "base")))


def test_a_base_of_the_pin_is_taken(
    imaged: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    assert image(imaged, tmp_path, paths) == 0
    assert "image made: linux/" in capfd.readouterr().err
    assert imaged.run("verify", "--image") == 0
    captured = capfd.readouterr()
    assert captured.out.startswith("lane sample: image verified, tree ")
    assert "no image on a base" not in captured.err


def test_both_ids_of_an_edited_file_are_told(
    imaged: World, lock: Lock, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    assert image(imaged, tmp_path, paths, {HOOKED: b"edited = 1\n"}) == 1
    pinned = files(imaged.repository, lock.pin.tree)["vllm/config.py"].blob
    found = blob_id(b"edited = 1\n")
    err = capfd.readouterr().err
    assert f"  vllm/config.py is {found} in the base, and {pinned} in the pin" in err
    assert "is not of its pin release:1.1 (its vLLM is 1.1)" in err
    assert "next: take a base that was made of the pin" in err
    assert not list(imaged.places.layouts.glob("*-on-*"))


def test_what_was_brought_and_is_refused_is_named_with_what_removes_it(
    imaged: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    assert image(imaged, tmp_path, paths, {HOOKED: b"edited = 1\n"}) == 1
    (kept,) = imaged.places.base_images.glob("sha256-*")
    digest = kept.name.replace("-", ":")
    told = f"; it is in the store: `--base {digest}` takes it again, `rm -r {kept}` removes it\n"
    assert told in capfd.readouterr().err
    # Another lane's base is not to be removed, whoever asks with it.
    architecture = architecture_of(load_series(imaged.project, "sample"))
    named(imaged, "other", "localhost:1/vllm:nightly", digest)
    imaged.edit("series/other.toml", 'architecture = "arm64"', f'architecture = "{architecture}"')
    capfd.readouterr()
    assert imaged.run("image", "--base", digest) == 1
    err = capfd.readouterr().err
    assert "is not of its pin release:1.1" in err
    assert "removes it" not in err


def test_a_base_on_which_an_image_stands_is_not_to_be_removed(
    imaged: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    assert image(imaged, tmp_path, paths) == 0
    (kept,) = imaged.places.base_images.glob("sha256-*")
    imaged.edit("series/sample.toml", "release:1.1", "release:1.0")
    assert imaged.run("build") == 0
    capfd.readouterr()
    assert imaged.run("image", "--base", kept.name.replace("-", ":")) == 1
    err = capfd.readouterr().err
    assert "is not of its pin release:1.0" in err
    assert "removes it" not in err


CHANGES: dict[str, tuple[Callable[[Paths], Paths], str]] = {
    "a file that the lane leaves alone": (
        lambda _: {f"{ROOT}/vllm/__init__.py": b"other = 1\n"},
        "vllm/__init__.py is ",
    ),
    "a hooked file that is gone": (
        lambda _: {f"{ROOT}/vllm/.wh.config.py": b""},
        "vllm/config.py is absent in the base, and ",
    ),
    "a hooked file that is a link": (
        lambda _: {HOOKED: "/etc/config.py"},
        "vllm/config.py is a link to /etc/config.py in the base, and ",
    ),
    "all of the folder hidden": (
        lambda _: {f"{ROOT}/vllm/.wh..wh..opq": b"", f"{ROOT}/vllm/__init__.py": b"x"},
        "vllm/config.py is absent in the base, and ",
    ),
    "an added package that is there": (
        lambda _: {f"{ROOT}/sample_package": None, f"{ROOT}/sample_package/old.py": b""},
        "sample_package is in the base, and the lane adds it: it must be absent",
    ),
    "bytecode of a hooked file": (
        lambda _: {f"{ROOT}/vllm/__pycache__/config.cpython-311.pyc": b"x"},
        "vllm/__pycache__/config.cpython-311.pyc is in the base, and may hide vllm/config.py",
    ),
    "a package in a hooked module's place": (
        lambda _: {f"{ROOT}/vllm/config/__init__.py": b""},
        "vllm/config/__init__.py is in the base, and Python would import it for vllm/config.py",
    ),
    "a compiled module in a hooked one's place": (
        lambda _: {f"{ROOT}/vllm/config.cpython-311-x86_64-linux-gnu.so": b""},
        "linux-gnu.so is in the base, and Python would import it for vllm/config.py",
    ),
    "a file that its layer has and removes": (
        lambda _: {f"{ROOT}/vllm/config.py": b"", f"{ROOT}/vllm/.wh.config.py": b""},
        "vllm/config.py is a path told twice in the base",
    ),
    "no version": (
        lambda _: {f"{ROOT}/vllm/.wh._version.py": b""},
        "vllm/_version.py is missing in the base",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_differs_is_told(
    imaged: World, paths: Paths, tmp_path: Path, capfd: Capture, case: str
) -> None:
    change, told = CHANGES[case]
    assert image(imaged, tmp_path, paths, change(paths)) == 1
    assert told in capfd.readouterr().err


def test_vllm_elsewhere(imaged: World, lock: Lock, tmp_path: Path, capfd: Capture) -> None:
    elsewhere = of_pin(imaged.repository, lock, "opt/python/lib/python3.12/site-packages")
    assert image(imaged, tmp_path, elsewhere) == 1
    err = capfd.readouterr().err
    assert "has vLLM in /opt/python/lib/python3.12/site-packages, and its series says" in err
    assert 'next: say site_packages = "/opt/python/lib/python3.12/site-packages"' in err


def test_vllm_twice(
    imaged: World, lock: Lock, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    more = of_pin(imaged.repository, lock, "opt/site-packages")
    assert image(imaged, tmp_path, paths, more) == 1
    assert "has vLLM in several places: /opt/site-packages, /usr/lib" in capfd.readouterr().err


def test_no_vllm(imaged: World, lock: Lock, tmp_path: Path, capfd: Capture) -> None:
    assert lock.layer
    assert image(imaged, tmp_path, {"etc/x": b""}) == 1
    assert "has no vLLM: no folder of packages has vllm/__init__.py" in capfd.readouterr().err


def test_a_layer_cannot_lead_out(
    imaged: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    assert image(imaged, tmp_path, paths, {"../etc/passwd": b""}) == 1
    assert "leads out of the image" in capfd.readouterr().err


def test_a_link_in_the_place_of_vllm(
    imaged: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    assert f"{ROOT}/vllm" not in paths
    assert image(imaged, tmp_path, paths, {f"{ROOT}/vllm": "/opt/other"}) == 1
    assert "has no vLLM" in capfd.readouterr().err


def test_a_link_on_the_way_to_vllm(
    imaged: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    files: Paths = {path: content for path, content in paths.items() if content is not None}
    assert image(imaged, tmp_path, {"usr/lib": "/opt/lib"}, files) == 1
    assert "has vLLM behind /usr/lib, which is a link" in capfd.readouterr().err


def test_what_lies_behind_a_link_of_the_same_layer(
    imaged: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    more: Paths = {f"{ROOT}/vllm": "/opt/other", f"{ROOT}/vllm/__init__.py": b""}
    assert image(imaged, tmp_path, paths, more) == 1
    assert "has no vLLM" in capfd.readouterr().err


def test_a_link_over_a_folder_of_the_same_layer(
    imaged: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    assert image(imaged, tmp_path, {**paths, f"{ROOT}/vllm": "/opt/other"}) == 1
    err = capfd.readouterr().err
    assert f"has vLLM behind /{ROOT}/vllm, which is a path told twice" in err


def test_names_that_are_no_utf_8_are_no_bug(imaged: World, paths: Paths, tmp_path: Path) -> None:
    more: Paths = {"srv/caf\udce9": b"", "srv/link": "caf\udce9"}
    assert image(imaged, tmp_path, paths, more) == 0


def test_verify_looks_at_the_base_again(
    imaged: World, lock: Lock, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    architecture = architecture_of(load_series(imaged.project, "sample")) or ""
    made = Base([paths, {HOOKED: b"edited = 1\n"}], architectures=[architecture])
    base = brought(imaged.places, str(made.lay(tmp_path / "base")), architecture)
    folder = image_folder(imaged.places, lock, base)
    lay_image(imaged.repository, lock, base, compose(lock, base), folder)
    assert imaged.run("verify", "--image") == 5
    assert "vllm/config.py is " in capfd.readouterr().err
