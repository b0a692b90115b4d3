"""Programs that others wrote read the layout: skopeo and buildah."""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from lanewright.image.layer import layer_content
from lanewright.image.told_version import VERSION_FILE
from lanewright.queue.build import build
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.objects import files, read_blobs
from tests.conftest import World
from tests.image.conftest import EMPTY, ROOT
from tests.image.programs import output, program
from tests.upstream.diff import own_patch
from tests.upstream.tree import NEXT, PATCHED

pytestmark = pytest.mark.image
COPY = "FROM scratch\nCOPY --from=lane / /\n"


@pytest.fixture
def lane(imaged: World) -> Lock:
    """A lane that changes, adds and removes files of vLLM."""
    after = {**PATCHED, "vllm/new/module.py": b"new = 1\n"}
    after["vllm/arguments.py"] = NEXT["vllm/arguments.py"]
    del after["vllm/empty.py"]
    patch = own_patch(imaged.root / "made", NEXT, after, base="release:1.1")
    (imaged.root / "patches/own/hook.patch").write_bytes(patch)
    return build(imaged.project, imaged.places, "sample").lock


@pytest.fixture
def out(imaged: World, lane: Lock, tmp_path: Path) -> Path:
    # buildah makes a name of the path, and a name has no part that begins with a dot.
    folder = tmp_path / "out"
    assert imaged.run("image", "--out", str(folder)) == 0
    assert lane.layer
    return folder


@pytest.mark.parametrize("architecture", ["amd64", "arm64"])
@pytest.mark.parametrize("name", ["", ":sample"])
def test_skopeo_reads_both_images(lane: Lock, out: Path, architecture: str, name: str) -> None:
    command = [program("skopeo"), "--override-arch", architecture, "inspect", f"oci:{out}{name}"]
    found = json.loads(output(*command))
    assert (found["Os"], found["Architecture"]) == ("linux", architecture)
    assert found["Layers"] == [layer_of(lane).digest]
    assert found["Created"] == "2000-01-01T00:00:00Z"
    assert found["Labels"]["dev.lanewright.tree"] == lane.tree


def test_skopeo_copies_every_blob_as_it_is(out: Path, tmp_path: Path) -> None:
    flags = ["--all", "--preserve-digests"]
    output(program("skopeo"), "copy", *flags, f"oci:{out}", f"oci:{tmp_path / 'copy'}:sample")
    blobs = {path.name for path in (out / "blobs/sha256").iterdir()}
    copied = {path.name: path.read_bytes() for path in (tmp_path / "copy/blobs/sha256").iterdir()}
    assert copied.keys() == blobs
    assert all(hashlib.sha256(content).hexdigest() == name for name, content in copied.items())


@pytest.fixture
def buildah(tmp_path: Path) -> list[str]:
    """buildah with a storage of this test's own."""
    if os.geteuid():
        pytest.skip("mounting a container's files without a user namespace takes root")
    places = ["--root", str(tmp_path / "storage"), "--runroot", str(tmp_path / "run")]
    return [program("buildah"), *places, "--storage-driver", "vfs"]


def over_the_pin(world: World, lane: Lock, out: Path, folder: Path) -> Path:
    """A layout with one image: the pin's tree as a base, and the lane's layer on it."""
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def keep(kind: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        media = f"application/vnd.oci.image.{kind}"
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(content)}

    base = layer_content(world.repository, EMPTY, lane.pin.tree, f"/{ROOT}")
    ours = (out / "blobs" / layer_of(lane).digest.replace(":", "/")).read_bytes()
    layers = [keep("layer.v1.tar", content) for content in (base, ours)]
    rootfs = {"type": "layers", "diff_ids": [layer["digest"] for layer in layers]}
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": rootfs}
    described = keep("config.v1+json", json.dumps(config).encode())
    manifest = {"schemaVersion": 2, "config": described, "layers": layers}
    named = keep("manifest.v1+json", json.dumps(manifest).encode())
    index = {"schemaVersion": 2, "manifests": [named]}
    (folder / "index.json").write_text(json.dumps(index))
    shutil.copy(out / "oci-layout", folder)
    return folder


def test_buildah_on_the_pin_has_the_lanes_tree(
    imaged: World, lane: Lock, out: Path, tmp_path: Path, buildah: list[str]
) -> None:
    layout = over_the_pin(imaged, lane, out, tmp_path / "base")
    container = output(*buildah, "--override-arch", "amd64", "from", f"oci:{layout}")
    root = Path(output(*buildah, "mount", container)) / ROOT
    expected = files(imaged.repository, lane.tree)
    contents = read_blobs(imaged.repository, [file.blob for file in expected.values()])
    found = {
        path.relative_to(root).as_posix(): path for path in root.rglob("*") if not path.is_dir()
    }
    assert found.keys() == expected.keys() | {VERSION_FILE}
    assert layer_of(lane).version.encode() in found[VERSION_FILE].read_bytes()
    assert "vllm/empty.py" not in found
    for path, file in expected.items():
        assert found[path].read_bytes() == contents[file.blob]
        assert found[path].stat().st_mode & 0o777 == int(file.mode[-3:], 8)
        assert found[path].stat().st_uid == 0


def test_a_containerfile_copies_from_it(
    imaged: World, lane: Lock, out: Path, tmp_path: Path, buildah: list[str]
) -> None:
    context = tmp_path / "context"
    context.mkdir()
    (context / "Containerfile").write_text(COPY)
    source = f"lane=container-image://oci:{out}"
    flags = ["--isolation", "chroot", "--build-context", source, "--tag", "copied"]
    output(*buildah, "build", *flags, str(context))
    container = output(*buildah, "from", "--pull-never", "localhost/copied")
    root = Path(output(*buildah, "mount", container)) / ROOT
    assert (root / "vllm/new/module.py").read_bytes() == b"new = 1\n"
    config = files(imaged.repository, lane.tree)["vllm/config.py"].blob
    content = read_blobs(imaged.repository, [config])[config]
    assert (root / "vllm/config.py").read_bytes() == content
