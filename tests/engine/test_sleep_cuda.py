"""An engine on a GPU that sleeps with two banks, and answers as before."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from lanewright.serve.model import recipe_text
from tests.engine.kernels import OVERLAY, gpu_python
from tests.engine.lane_python import INSIDE, SECONDS, TOOLS

pytestmark = pytest.mark.gpu

PROBE = "import vllm; from vllm.platforms import current_platform as p; assert p.is_cuda(), p"
CHECKS = (
    "either_level_leaves_all_as_it_was",
    "weights_and_cache_wake_in_either_order",
    "level_2_of_exclusive_banks_is_refused",
)


@pytest.fixture(scope="module", params=["mirror", "exclusive"])
def failures(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str | None]:
    """By check, why it failed; vLLM's pool is one a process."""
    python, folder = with_vllm(), tmp_path_factory.mktemp("sleep_cuda")
    model, result = folder / "model", folder / "result.json"
    model.mkdir()
    recipe = folder / "recipe.json"
    recipe.write_text(recipe_text("qwen3-moe-tiny"))
    maker = [python, str(TOOLS / "make_model.py"), str(recipe), str(model)]
    subprocess.run(maker, check=True, timeout=SECONDS)
    environ = {**os.environ, "PYTHONPATH": f"{OVERLAY}:{INSIDE}"}
    command = [python, str(INSIDE / "sleep_cuda.py"), str(result), str(model), request.param]
    subprocess.run(command, env=environ, check=True, timeout=SECONDS)
    found: dict[str, str | None] = json.loads(Path(result).read_text())
    return found


def with_vllm() -> str:
    """The Python that has torch for CUDA, and vLLM; skips where there is none."""
    python, missing = gpu_python()
    if missing:
        pytest.skip(missing)
    tried = subprocess.run(
        [python, "-c", PROBE], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    if tried.returncode:
        why = (tried.stderr.strip().splitlines() or ["no message"])[-1]
        pytest.skip(f"needs vLLM for CUDA in the Python of the GPU tests: {why}")
    return python


@pytest.mark.parametrize("check", CHECKS)
def test_sleep_cuda(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE
