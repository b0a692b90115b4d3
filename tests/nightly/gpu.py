"""A machine whose GPU is a stand-in: its driver is a script, and its device any file."""

import os
from pathlib import Path

import pytest

from tests.conftest import World

IMAGE = """
[image]
site_packages = "/usr/lib/python3/dist-packages"
"""


def on_a_gpu(world: World) -> None:
    """Have the sample lane be one on a GPU."""
    series = world.root / "series/sample.toml"
    series.write_text(series.read_text().replace('device = "cpu"', 'device = "cuda"'))


def in_its_image(world: World) -> None:
    """Have it be one on a GPU that boots in its image."""
    on_a_gpu(world)
    series = world.root / "series/sample.toml"
    series.write_text(series.read_text().replace("[engine]\n", f"{IMAGE}\n[engine]\n"))


def with_a_gpu(world: World, monkeypatch: pytest.MonkeyPatch, tells: str) -> None:
    """Have a GPU here, and its driver's program tell of it by a line for sh."""
    device = world.root.parent / "device"
    device.touch()
    monkeypatch.setattr("lanewright.serve.hardware.CUDA_CONTROL", device)
    smi = Path(world.root.parent, "bin", "nvidia-smi")
    smi.parent.mkdir()
    smi.write_text(f"#!/bin/sh\n{tells}\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{smi.parent}:{os.environ['PATH']}")
