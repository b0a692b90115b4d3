"""Images of this project's own lanes, on the base that is made here once and found after that."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LANE = "cpu-twobank"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where this file's runs are recorded."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("state")
        patch.setenv("LANEWRIGHT_STATE", str(folder))
        yield folder


def lanewright(*words: str, root: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "lanewright", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def done(*words: str, root: Path = ROOT) -> str:
    ended = lanewright(*words, root=root)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def image(state: Path) -> Path:
    """The lane's image, whole."""
    require_tools()
    assert state.is_dir()
    done("image", "base", LANE)
    told = json.loads(done("image", LANE, "--json"))
    return Path(told["folder"])


def require_tools() -> None:
    """Skip where no base can be made, or nothing runs it."""
    for tool in ("mmdebstrap", "podman", "buildah"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    if os.geteuid():
        pytest.skip("these containers run as root")
