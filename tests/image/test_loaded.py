"""Images brought into docker, by its own command, wherever its daemon is."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.image.container.engine import engine_here, image_name, pulled, pulled_base
from lanewright.image.container.loaded import layers_of, load
from lanewright.image.onto.base import found_base
from lanewright.image.opened.image import open_image
from lanewright.queue.lock import Lock
from lanewright.queue.series import load_series
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.image.docker_daemon import daemon
from tests.image.programs import output

OTHER = f"""\
#!/bin/sh
[ "$1" = load ] || echo '["sha256:{"0" * 64}"]'
"""


@pytest.fixture
def folder(imaged: World, lock: Lock, tmp_path: Path) -> Path:
    """The lane's image in a layout, on a base with a compressed layer."""
    base = Base([of_pin(imaged.repository, lock)], packed="gzip").lay(tmp_path / "base")
    assert imaged.run("image", "--base", str(base)) == 0
    return onto.the_folder(imaged)


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with daemon(tmp_path) as host:
        monkeypatch.setenv("DOCKER_HOST", host)
        yield


@pytest.mark.image
@pytest.mark.usefixtures("docker")
def test_docker_has_the_lanes_image(imaged: World, lock: Lock, folder: Path) -> None:
    engine = engine_here("docker")
    name = pulled(engine, lock, folder)
    assert name == open_image(folder, None).config_blob.digest.removeprefix("sha256:")
    assert layers_of("docker", image_name(lock)) == layers_of("docker", name)
    (told,) = json.loads(output("docker", "image", "inspect", name))
    config = onto.config_of(folder)
    assert told["RootFS"]["Layers"] == config["rootfs"]["diff_ids"]
    assert told["Config"]["Labels"] == config["config"]["Labels"]
    assert told["Config"]["Entrypoint"] == config["config"]["Entrypoint"]
    # Nothing of its archive stays, and what is there is not loaded again.
    assert not list(folder.parent.glob(".making*"))
    assert engine.has(open_image(folder, None).config_blob.digest.removeprefix("sha256:"))
    series = load_series(imaged.project, "sample")
    digest = open_image(folder, None).labels["org.opencontainers.image.base.digest"]
    base = found_base(imaged.project, imaged.places, series, lock, digest)
    assert base
    assert layers_of("docker", pulled_base(engine, base)) == config["rootfs"]["diff_ids"][:-1]


def test_what_docker_has_then_is_looked_at(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "docker"
    program.write_text(OTHER)
    program.chmod(0o755)
    with pytest.raises(LanewrightError, match="docker has other layers in it:1") as error:
        load(str(program), open_image(folder, None), "it:1")
    assert error.value.hint == "docker image rm it:1"


def test_docker_says_no(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(LanewrightError, match=r"cannot load it:1 into docker(.|\n)*no room"):
        load(str(program), open_image(folder, None), "it:1")
    assert not list(folder.parent.glob(".making*"))
