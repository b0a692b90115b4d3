"""``image run``: what a container is run with, word by word."""

import shlex
import subprocess
from pathlib import Path

import pytest

from lanewright.queue.lock import read_lock
from tests.conftest import World
from tests.image.bases import Base, of_pin

Capture = pytest.CaptureFixture[str]
RUN = """
[image.run]
model = "/models/one"
port = 9000
devices = ["nvidia.com/gpu=all"]
ipc = "host"
cap_add = ["SYS_NICE"]
ulimits = ["memlock=-1"]
health_start = "30m"
environment = { HOME = "/root" }
volumes = { "/root/.cache" = "lane-cache" }

# the hook"""


def image(world: World, tmp_path: Path) -> None:
    lock = read_lock(world.lock)
    assert lock
    base = Base([of_pin(world.repository, lock)], architectures=["arm64"]).lay(tmp_path / "base")
    assert world.run("image", "--base", str(base)) == 0


@pytest.fixture
def world(imaged: World) -> World:
    imaged.edit("series/sample.toml", "[image]\n", '[image]\narchitecture = "arm64"\n')
    imaged.edit("series/sample.toml", "\n# the hook", RUN)
    imaged.edit("series/sample.toml", 'recipe = "none"', 'name = "someone/model"')
    imaged.edit("series/sample.toml", "[model]", "[engine]\nmax_model_len = 512\n\n[model]")
    assert imaged.run("build") == 0
    return imaged


def words(world: World, capfd: Capture, *more: str) -> tuple[str, list[str]]:
    capfd.readouterr()
    assert world.run("image", "run", *more) == 0
    bring, run = capfd.readouterr().out.splitlines()
    return bring, shlex.split(run)


def test_everything_that_the_lane_asks_for(world: World, tmp_path: Path, capfd: Capture) -> None:
    image(world, tmp_path)
    bring, found = words(world, capfd)
    lock = read_lock(world.lock)
    assert lock
    name = f"localhost/lanewright/sample:1.1_lane.sample.{lock.tree[:8]}"
    assert f"(cd {world.places.layouts} && podman pull oci:sample-" in bring
    assert bring.endswith(name)
    place = found.index(name)
    assert found[:2] == ["podman", "run"]
    assert {
        "--read-only",
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
        "--device=nvidia.com/gpu=all",
        "--ipc=host",
        "--cap-add=SYS_NICE",
        "--ulimit=memlock=-1",
        "--volume=lane-cache:/root/.cache",
        "--volume=/models/one:/lane/model:ro",
        "--env=HOME=/root",
        "--publish=127.0.0.1:9000:9000",
        "--health-start-period=30m",
    } < set(found[:place])
    assert not any(word.startswith("--shm-size") for word in found)
    assert found[place + 1 :] == [
        "/lane/model",
        "--host=0.0.0.0",
        "--port=9000",
        "--max-model-len=512",
    ]


def test_docker_loads_an_archive(world: World, tmp_path: Path, capfd: Capture) -> None:
    image(world, tmp_path)
    bring, found = words(world, capfd, "--engine", "docker")
    (kept,) = world.places.base_images.glob("sha256-*")
    digest = kept.name.replace("-", ":")
    made = f"lanewright -C {world.root} image sample --base {digest}"
    assert f'{made} --archive "$made" --format docker ' in bring
    assert ' docker load --input "$made"/sample.docker.tar;' in bring
    assert found[:2] == ["docker", "run"]
    # As the archive calls it.
    assert any(word.startswith("lanewright/sample:1.1_lane.sample.") for word in found)


@pytest.mark.parametrize("ends", [0, 7])
def test_the_line_for_docker_ends_as_its_steps_do(
    world: World, tmp_path: Path, capfd: Capture, ends: int
) -> None:
    image(world, tmp_path)
    bring, _ = words(world, capfd, "--engine", "docker")
    programs, temporary = tmp_path / "programs", tmp_path / "temporary"
    programs.mkdir()
    temporary.mkdir()
    for name, script in {"lanewright": ":", "docker": f"exit {ends}"}.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    environ = {"PATH": f"{programs}:/usr/bin:/bin", "TMPDIR": str(temporary)}
    for shell in ("sh", "bash"):
        assert subprocess.run([shell, "-c", bring], env=environ, check=False).returncode == ends
    assert not list(temporary.iterdir())


def test_what_steers_a_terminal_is_written_out(
    world: World, tmp_path: Path, capfd: Capture
) -> None:
    image(world, tmp_path)
    world.edit(
        "series/sample.toml", '{ HOME = "/root" }', '{ A = "a\\u001b[31m\\u202eb c\\u3164" }'
    )
    world.edit("series/sample.toml", '"/root/.cache"', '"/root/.cache\\u2800"')
    capfd.readouterr()
    assert world.run("image", "run") == 0
    run = capfd.readouterr().out.splitlines()[1]
    assert run.isascii()
    assert run.isprintable()
    podman = tmp_path / "podman"
    podman.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    podman.chmod(0o755)
    said = subprocess.run(
        ["bash", "-c", run],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    assert {"--env=A=a\x1b[31m\u202eb c\u3164", "--volume=lane-cache:/root/.cache\u2800"} <= {
        *said.stdout.decode().splitlines()
    }


def test_how_it_is_run_moves_no_lock(world: World) -> None:
    before = world.lock.read_bytes()
    world.edit("series/sample.toml", "port = 9000", "port = 9001")
    assert world.run("build", "--check") == 0
    assert world.lock.read_bytes() == before


BAD = {
    'ulimits = ["memlock=-1"]': ('ulimits = ["memlock"]', "ulimits: 'memlock' is not a limit"),
    'cap_add = ["SYS_NICE"]': ('cap_add = ["--privileged"]', "'--privileged' is not a capability"),
    'health_start = "30m"': ('health_start = "soon"', "'soon' is not a time"),
    '"lane-cache"': ('"/etc"', "'/etc' is not a volume's name"),
    '{ HOME = "/root" }': ('{ "A B" = "" }', "'A B' is not a variable's name"),
    "port = 9000": ("port = 70000", "port"),
    'ipc = "host"': ('ipc = "other"', "ipc"),
    'model = "/models/one"': ('caches = "near"', "caches: 'near' is not an absolute path"),
}


@pytest.mark.parametrize("good", BAD)
def test_what_is_not_is_told(world: World, capfd: Capture, good: str) -> None:
    bad, told = BAD[good]
    world.edit("series/sample.toml", good, bad)
    assert world.run("build", "--check") == 1
    err = capfd.readouterr().err
    assert "series/sample.toml" in err
    assert told in err


@pytest.mark.parametrize("digits", [5, 400, 5000])
def test_a_time_that_never_ends(world: World, capfd: Capture, digits: int) -> None:
    world.edit("series/sample.toml", '"30m"', f'"{"9" * digits}h"')
    assert world.run("build", "--check") == 1
    assert "is not a time" in capfd.readouterr().err
