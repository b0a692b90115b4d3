"""The CPU's kernels by themselves: their output's bits do not know where a row lies.

They are vLLM's, but for MXFP4 where its build for this CPU has none: there it is torch's.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine


def test_every_dtype_is_bit_equal_over_random_maps_and_swaps(
    laid: Callable[..., Laid], tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    laid("0.32.0", "cpu-mxfp4").run("cpu_kernel_maps.py", str(result), folder=tmp_path)
    found = json.loads(result.read_text())
    assert {"bfloat16", "float16", "float32"} <= {*found}
    assert len({"mxfp4 of vllm", "mxfp4 of torch"} & {*found}) == 1
    expected = {"maps": 200, "different": 0, "moved": 3, "finite": True}
    assert found == dict.fromkeys(found, expected)
