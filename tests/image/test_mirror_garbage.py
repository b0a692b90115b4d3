"""``image mirror`` from registries that answer with what is no image; a program is in skopeo's place."""

import json
from pathlib import Path

import pytest

from lanewright.image.opened import skopeo
from lanewright.queue.lock import Lock
from tests.conftest import World
from tests.image.bases import Base, of_pin
from tests.image.in_skopeos_place import publish, put
from tests.image.naming import named

Capture = pytest.CaptureFixture[str]
NAME = "localhost:1/vllm/vllm-openai:nightly"
GARBAGE = {
    "html": b"<html>sign in</html>",
    "no utf-8": b"\xff\xfe{}",
    "nested": b'{"x":' + b"[" * 200_000,
    "another kind": b'{"manifests": 7}',
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_told(
    imaged: World, lock: Lock, served: Path, capfd: Capture, what: str
) -> None:
    assert lock.layer
    named(imaged, "sample", NAME, put(served, GARBAGE[what]))
    assert imaged.run("image", "mirror") == 1
    err = capfd.readouterr().err
    assert "lane sample: its base localhost:1/vllm/vllm-openai:nightly is not kept" in err
    assert "is no document of an image" in err
    assert "next: lanewright image mirror sample" in err
    assert not list(imaged.places.base_images.glob("sha256-*"))


@pytest.mark.parametrize("what", GARBAGE)
def test_nothing_is_read_of_another_digest(
    imaged: World, lock: Lock, served: Path, capfd: Capture, what: str
) -> None:
    assert lock.layer
    (served / ("1" * 64)).write_bytes(GARBAGE[what])
    named(imaged, "sample", NAME, f"sha256:{'1' * 64}")
    assert imaged.run("image", "mirror") == 5
    assert f", and not sha256:{'1' * 64}" in capfd.readouterr().err


def test_of_every_lane_the_others_are_kept_and_the_worst_ends_it(
    imaged: World, lock: Lock, served: Path, tmp_path: Path, capfd: Capture
) -> None:
    base = Base([of_pin(imaged.repository, lock)], architectures=["arm64"]).lay(tmp_path / "base")
    digest = publish(served, base)
    (served / ("1" * 64)).write_bytes(GARBAGE["html"])
    named(imaged, "a-first", NAME, f"sha256:{'1' * 64}")
    named(imaged, "b-second", NAME, put(served, GARBAGE["html"]))
    named(imaged, "sample", NAME, digest)
    capfd.readouterr()
    assert imaged.run("image", "mirror", "--every") == 5
    captured = capfd.readouterr()
    assert captured.out.startswith(digest)
    assert "lane b-second: its base" in captured.err
    assert imaged.run("image", "sample") == 0


def test_a_layer_of_another_size_is_not_kept(
    imaged: World, lock: Lock, served: Path, tmp_path: Path, capfd: Capture
) -> None:
    layout = Base([of_pin(imaged.repository, lock)], architectures=["arm64"]).lay(tmp_path / "base")
    named(imaged, "sample", NAME, publish(served, layout))
    (entry,) = json.loads((layout / "index.json").read_bytes())["manifests"]
    manifest = json.loads((layout / "blobs" / entry["digest"].replace(":", "/")).read_bytes())
    manifest["layers"][0]["size"] += 1
    named(imaged, "sample", NAME, put(served, json.dumps(manifest).encode()))
    assert imaged.run("image", "mirror") == 1
    assert "bytes, and is told to have" in capfd.readouterr().err
    assert not list(imaged.places.base_images.glob("sha256-*"))


def test_a_registry_that_hangs(
    imaged: World,
    lock: Lock,
    served: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: Capture,
) -> None:
    assert lock.layer
    monkeypatch.setattr(skopeo, "READ_SECONDS", 0.3)
    (served.parent / "programs/skopeo").write_text("#!/bin/sh\nexec sleep 60\n")
    named(imaged, "sample", NAME, f"sha256:{'1' * 64}")
    assert imaged.run("image", "mirror") == 1
    assert "skopeo did not end within 0.3 s" in capfd.readouterr().err
