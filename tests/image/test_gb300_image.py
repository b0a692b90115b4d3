"""The GB300 lane's image, made on this machine on a stand-in for its base of two architectures."""

from pathlib import Path

import pytest

from lanewright.image.stamps import told_entries
from lanewright.queue.lock import layer_of
from lanewright.store.objects import blob_id, files
from tests.image import onto
from tests.image.bases import Base, Paths, of_pin
from tests.upstream.fixtures import Carrying
from tests.upstream.gb300 import POOL, TWO_BANK, Two, laid, small

__all__ = ["small"]
Capture = pytest.CaptureFixture[str]
EDIT = b"edited = 1\n"
SITE = "usr/local/lib/python3.12/dist-packages"


@pytest.fixture
def two(small: Carrying) -> Two:
    laid(small.root, "0.31.0")
    lane = Two(small.root, small.places)
    assert lane.add(TWO_BANK, "96177", "97943") == 0
    return lane


def base(two: Two, folder: Path, more: Paths | None = None) -> Path:
    under = of_pin(two.repository, two.lock(TWO_BANK), SITE)
    layers = [under, *([more] if more else [])]
    return Base(layers, packed="gzip", architectures=["amd64", "arm64"]).lay(folder)


def test_the_arm64_image_has_the_lanes_tree(two: Two, tmp_path: Path, capfd: Capture) -> None:
    assert two.run("image", TWO_BANK, "--base", str(base(two, tmp_path / "base"))) == 0
    assert "image made: linux/arm64" in capfd.readouterr().err
    (folder,) = two.places.layouts.glob("*-on-*")
    config, lock = onto.config_of(folder), two.lock(TWO_BANK)
    assert (config["architecture"], config["os"]) == ("arm64", "linux")
    labels = config["config"]["Labels"]
    assert labels["dev.lanewright.tree"] == lock.tree
    assert labels["dev.lanewright.lane"] == TWO_BANK
    assert labels["dev.lanewright.layer"] == layer_of(lock).digest
    # It stands on another than the lane names, and does not say that it was that.
    assert "org.opencontainers.image.base.name" not in labels
    entries = {entry.name: entry for entry in told_entries(labels)}
    assert entries["96177"].pull == 96177
    assert entries["96177"].left["not selected"] > 0
    assert sum(map(len, entries["96177"].hunks.values())) == 2
    # verify unpacks the layer in mind over the pin, and compares with the tree.
    assert two.run("verify", "--image", TWO_BANK) == 0
    assert any(path.startswith(POOL) for path in files(two.repository, lock.tree))


def test_without_the_base_it_says_how_to_have_it(two: Two, capfd: Capture) -> None:
    capfd.readouterr()
    assert two.run("image", TWO_BANK) == 1
    err = capfd.readouterr().err
    assert "its base docker.io/vllm/vllm-openai:nightly-af7f9488" in err
    assert f"next: lanewright image mirror {TWO_BANK}" in err


def test_a_base_with_one_edited_file_is_refused(two: Two, tmp_path: Path, capfd: Capture) -> None:
    lock = two.lock(TWO_BANK)
    path = "vllm/config/offload.py"
    edited: Paths = {f"{SITE}/{path}": EDIT}
    assert two.run("image", TWO_BANK, "--base", str(base(two, tmp_path / "base", edited))) == 1
    pinned = files(two.repository, lock.pin.tree)[path].blob
    told = f"{path} is {blob_id(EDIT)} in the base, and {pinned} in the pin"
    assert told in capfd.readouterr().err
    assert not list(two.places.layouts.glob("*-on-*"))
