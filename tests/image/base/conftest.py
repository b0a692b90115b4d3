"""A lane whose base is made of a few small wheels, from an index of the test's own."""

from pathlib import Path

import pytest

from lanewright.image.base.recipe import sha256_of
from lanewright.serve.base import TORCH
from tests.conftest import World
from tests.upstream.wheels import make_wheel


def small_wheel(index: Path, name: str, version: str) -> Path:
    """Put a wheel with one module into the index."""
    content = f"version = {version!r}\n".encode()
    return make_wheel(index, version, {f"{name}.py": content}, distribution=name)


def locked(*wheels: Path) -> str:
    """A list of requirements, as ``environments/cpu.txt`` has them."""
    lines = ["# What the lane imports."]
    for wheel in wheels:
        name, version = wheel.name.split("-")[:2]
        lines += [f"{name}=={version} \\", f"    --hash={sha256_of(wheel)}"]
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def _no_public_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanewright.serve.base.TORCH_INDEX", "http://127.0.0.1:9/simple")


@pytest.fixture
def based(world: World, index: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The sample project with an environment of two wheels, and an index that has them."""
    pip = small_wheel(index, "pip", "26.3")
    small_wheel(index, "torch", TORCH)
    wheels = [small_wheel(index, "thing", "1"), small_wheel(index, "triton", "3")]
    (world.root / "environments").mkdir()
    (world.root / "environments/cpu.txt").write_text(locked(*wheels))
    own_file = "lanewright.image.base.recipe.own_file"
    texts = {"pip.txt": locked(pip), "Containerfile": "FROM scratch\n", "compiling.py": ""}
    monkeypatch.setattr(own_file, texts.__getitem__)
    return world
