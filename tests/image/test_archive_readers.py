"""Programs that others wrote read the archives: skopeo and podman."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from lanewright.queue.lock import Lock, layer_of
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.image.programs import output, program

pytestmark = pytest.mark.image
Capture = pytest.CaptureFixture[str]
FORMS = ("oci", "docker")


@pytest.fixture(params=FORMS)
def archive(
    imaged: World, amd64: Lock, tmp_path: Path, request: pytest.FixtureRequest
) -> tuple[str, Path]:
    """An archive and its form, in a folder whose name skopeo takes."""
    base = Base([of_pin(imaged.repository, amd64)], packed="gzip").lay(tmp_path / "base")
    words = ("--base", str(base), "--archive", str(tmp_path / "out"), "--format", request.param)
    assert imaged.run("image", *words) == 0
    return request.param, tmp_path / f"out/sample.{request.param}.tar"


def test_skopeo_reads_it(imaged: World, amd64: Lock, archive: tuple[str, Path]) -> None:
    form, file = archive
    found = json.loads(output(program("skopeo"), "inspect", f"{form}-archive:{file}"))
    assert found["Labels"] == onto.config_of(onto.the_folder(imaged))["config"]["Labels"]
    assert found["Layers"][-1] == layer_of(amd64).digest
    assert (found["Architecture"], len(found["Layers"])) == ("amd64", 3)


def test_skopeo_unpacks_every_layer(
    imaged: World, archive: tuple[str, Path], tmp_path: Path
) -> None:
    form, file = archive
    output(program("skopeo"), "copy", f"{form}-archive:{file}", f"dir:{tmp_path / 'copied'}")
    manifest = json.loads((tmp_path / "copied/manifest.json").read_bytes())
    folder = onto.the_folder(imaged)
    assert manifest["config"]["digest"] == onto.manifest_of(folder)["config"]["digest"]
    digests: list[Any] = [layer["digest"] for layer in manifest["layers"]]
    wanted = [layer["digest"] for layer in onto.manifest_of(folder)["layers"]]
    if form == "docker":
        # It has unpacked what the base had compressed, and found what the configuration says.
        wanted = onto.config_of(folder)["rootfs"]["diff_ids"]
    assert digests == wanted


@pytest.fixture
def short() -> Iterator[str]:
    """A folder of no more than the 50 characters that podman takes."""
    with TemporaryDirectory(prefix="lw", dir="/run" if os.geteuid() == 0 else None) as made:
        yield made


def test_podman_loads_it(
    imaged: World, archive: tuple[str, Path], tmp_path: Path, short: str, capfd: Capture
) -> None:
    if os.geteuid():
        pytest.skip("a storage of the test's own takes root")
    form, file = archive
    podman = [program("podman"), f"--root={tmp_path / 'storage'}", "--storage-driver=vfs"]
    podman.append(f"--runroot={short}")
    output(*podman, "load", "--input", str(file))
    (loaded,) = json.loads(output(*podman, "images", "--format", "json"))
    config = onto.manifest_of(onto.the_folder(imaged))["config"]["digest"]
    assert f"sha256:{loaded['Id']}" == config
    if form == "docker":
        (name,) = loaded["Names"]
        assert name.partition("/")[2].startswith("lanewright/sample:1.1_lane.sample.")
    # inspect reads what is in a storage, too.
    where = f"[vfs@{tmp_path / 'storage'}+{short}]"
    capfd.readouterr()
    assert imaged.run("image", "inspect", "--json", f"containers-storage:{where}{config[7:]}") == 0
    told = onto.printed(capfd.readouterr().out)
    assert (told["lane"], told["id"]) == ("sample", config)
    assert told["layers"][-1]["lane"]
