"""buildah builds a lane from source, offline, on a base that has this machine's own ``/usr``."""

import json
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lanewright.image.source.containerfile import source_stamps
from lanewright.image.told_version import told_version
from tests.image.source.conftest import Compiled
from tests.upstream.daemon import serving

pytestmark = pytest.mark.image
PYTHON = "/usr/bin/python3"
NEEDED = (
    "import setuptools, pip, sysconfig, wheel; open(sysconfig.get_path('include') + '/Python.h')"
)
BASE = """\
FROM scratch
COPY root /
ENV PATH=/usr/bin CC=gcc PIP_TARGET=/site PYTHONPATH=/site
"""


@dataclass(frozen=True)
class Buildah:
    """The real buildah with a storage of the test's own.

    Attributes:
        storage: Its folder.
        alone: Whether it has no network at all.
    """

    storage: Path
    alone: bool = True

    def run(self, *arguments: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        place = ["--root", str(self.storage / "root"), "--runroot", str(self.storage / "run")]
        apart = ["unshare", "--net"] if self.alone else []
        done = subprocess.run(
            [*apart, "buildah", *place, "--storage-driver", "vfs", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) == ok, done.stdout + done.stderr
        return done

    def build(self, folder: Path, *arguments: str, ok: bool = True) -> str:
        shared = ("--isolation", "chroot", "--volume", "/usr:/usr:ro")
        done = self.run("build", *shared, *arguments, str(folder), ok=ok)
        return done.stdout + done.stderr


@pytest.fixture
def buildah(tmp_path: Path) -> Buildah:
    """It, with the image ``base``: an empty system over which ``/usr`` is laid as it runs."""
    if not shutil.which("buildah"):
        pytest.skip("buildah is not installed")
    needs = [PYTHON, "-I", "-c", NEEDED]
    if subprocess.run(needs, capture_output=True, check=False).returncode:
        pytest.skip(f"{PYTHON} lacks pip, setuptools, wheel or its headers")
    if not all(Path("/usr/bin", name).exists() for name in ("gcc", "git")):
        pytest.skip("there is no gcc or git in /usr/bin")
    root = tmp_path / "base" / "root"
    for name in ("usr", "tmp", "etc", "site"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    (tmp_path / "base/Containerfile").write_text(BASE)
    made = Buildah(tmp_path / "storage")
    made.run("build", "--tag", "base", str(tmp_path / "base"))
    return made


def test_the_image_runs_what_the_lane_compiled(
    compiled: Compiled, buildah: Buildah, tmp_path: Path
) -> None:
    compiled.written(tmp_path / "out")
    clone = ("--build-context", f"upstream={compiled.lane.upstream}")
    buildah.build(tmp_path / "out", *clone, "--build-arg", "BASE=localhost/base", "--tag", "lane")
    lock = compiled.lane.lock
    found = json.loads(buildah.run("inspect", "--type", "image", "lane").stdout)
    labels = found["OCIv1"]["config"]["Labels"]
    said = source_stamps(lock)
    assert {key: labels[key] for key in said} == said
    name = buildah.run("from", "lane").stdout.strip()
    code = (
        "import importlib.metadata, beside, vllm.plain as plain;"
        "print(plain.answer(), plain.SEVEN, importlib.metadata.version('vllm'))"
    )
    command = ("run", "--isolation", "chroot", "--volume", "/usr:/usr:ro", name, PYTHON, "-c")
    version = told_version(lock.lane, lock.pin, lock.tree)
    assert buildah.run(*command, code).stdout == f"41 True {version}\n"
    mounted = Path(buildah.run("mount", name).stdout.strip())
    assert not (mounted / "lane").exists()
    assert not (mounted / "source").exists()


def test_a_build_on_another_source_stops_with_the_pull_request(
    compiled: Compiled, buildah: Buildah, tmp_path: Path
) -> None:
    told = compiled.written(tmp_path / "out")
    told["pulls"][0]["files"]["csrc/more.c"][0] = "0" * 40
    (tmp_path / "out/lane.json").write_text(json.dumps(told))
    clone = ("--build-context", f"upstream={compiled.lane.upstream}")
    said = buildah.build(tmp_path / "out", *clone, "--build-arg", "BASE=localhost/base", ok=False)
    assert "#7 cannot be applied: csrc/more.c is " in said


def test_without_a_clone_the_source_comes_from_the_remote(
    compiled: Compiled, buildah: Buildah, tmp_path: Path
) -> None:
    upstream = compiled.lane.upstream
    with serving(upstream.parent) as url:
        file = compiled.lane.root / "upstream.toml"
        remote = f"{url}/{upstream.name}"
        file.write_text(file.read_text().replace(str(upstream), remote))
        compiled.written(tmp_path / "out")
        options = ("--target", "source", "--build-arg", "BASE=localhost/base")
        said = replace(buildah, alone=False).build(tmp_path / "out", *options)
    assert f"lane sample: source of {compiled.pin}, 2 files of vllm/ changed" in said
