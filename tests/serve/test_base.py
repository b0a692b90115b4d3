"""Base environments, built for real from an index of tiny wheels."""

import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lanewright.errors import HardwareError, LanewrightError
from lanewright.places import Places
from lanewright.serve.base import TORCH, base_name, complete, ensure_base


@pytest.fixture(autouse=True)
def _no_public_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanewright.serve.base.TORCH_INDEX", "http://127.0.0.1:9/simple")


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    file = tmp_path / "cpu.txt"
    file.write_text("thing==1\n")
    return file


def put_wheel(index: Path, name: str, version: str) -> None:
    """Put a wheel with one module and a dependency that is nowhere into the index."""
    index.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(index / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", f"version = {version!r}\n")
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        wheel.writestr(f"{info}/METADATA", metadata + "Requires-Dist: nowhere\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def folders(places: Places) -> list[Path]:
    return [path for path in places.bases.iterdir() if path.is_dir()]


def test_a_base_is_built_once(places: Places, index: Path, requirements: Path) -> None:
    put_wheel(index, "torch", TORCH)
    put_wheel(index, "thing", "1")
    python = ensure_base(places, requirements)
    found = subprocess.run(
        [python, "-c", "import sys, thing, torch; print(*sys.version_info[:2], torch.version)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout == f"3 11 {TORCH}\n"
    shutil.rmtree(index)
    assert ensure_base(places, requirements) == python


def test_an_incomplete_base_is_built_again(
    places: Places, index: Path, requirements: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_wheel(index, "torch", TORCH)
    put_wheel(index, "thing", "1")
    left = places.bases / base_name(requirements)
    (left / "bin").mkdir(parents=True)
    (left / "stray").write_text("")
    python = ensure_base(places, requirements)
    assert complete(left)
    assert python.is_relative_to(left)
    assert not (left / "stray").exists()
    assert "left incomplete" in capsys.readouterr().err


def test_a_failed_build_leaves_nothing_and_the_next_one_works(
    places: Places, index: Path, requirements: Path
) -> None:
    put_wheel(index, "torch", TORCH)
    with pytest.raises(LanewrightError, match=r"could not install cpu\.txt") as caught:
        ensure_base(places, requirements)
    assert "thing" in str(caught.value)
    assert folders(places) == []
    put_wheel(index, "thing", "1")
    assert ensure_base(places, requirements).exists()


def test_a_torch_that_is_nowhere(places: Places, index: Path, requirements: Path) -> None:
    index.mkdir()
    with pytest.raises(LanewrightError, match=r"torch==2.13.0\+cpu is neither where") as caught:
        ensure_base(places, requirements)
    assert caught.value.hint is not None
    assert "PIP_FIND_LINKS" in caught.value.hint
    assert folders(places) == []


def test_an_interrupt_leaves_nothing(
    places: Places, requirements: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(folder: Path, _requirements: Path) -> None:
        folder.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr("lanewright.serve.base.fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ensure_base(places, requirements)
    assert folders(places) == []


def test_another_list_is_another_base(requirements: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("thing==2\n")
    assert base_name(requirements) != base_name(other)
    assert base_name(requirements).startswith(f"cp311-{platform.machine()}-")


def test_a_machine_without_a_cpu_build(requirements: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(HardwareError, match="this is riscv64"):
        base_name(requirements)


def test_another_system(requirements: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(LanewrightError, match="this is darwin"):
        base_name(requirements)


def test_no_python_311(
    places: Places, requirements: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "python_version_tuple", lambda: ("3", "13", "0"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LanewrightError, match=r"no working python3\.11 on PATH"):
        ensure_base(places, requirements)
    assert folders(places) == []


def test_a_list_that_is_not_there(places: Places, tmp_path: Path) -> None:
    with pytest.raises(LanewrightError, match=r"cpu\.txt: No such file"):
        ensure_base(places, tmp_path / "cpu.txt")


def test_a_store_that_cannot_be_written(requirements: Path, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(LanewrightError, match=r"cannot make the folder .*store") as caught:
        ensure_base(Places(tmp_path / "store", tmp_path), requirements)
    assert caught.value.hint is not None
