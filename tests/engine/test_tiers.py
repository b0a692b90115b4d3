"""Picks by bank: hits + misses are the picks, exactly, and each bank's are those of the trace."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.counting import LAYERS, K
from tests.engine.lane_python import Laid

SMALL = {
    "block_size": 32,
    "max_num_batched_tokens": 64,
    "enable_prefix_caching": False,
    "moe_usage_counter": False,
}


def traced(laid: Callable[..., Laid], folder: Path, *, eager: bool) -> Any:  # noqa: ANN401 - JSON
    jobs = [
        {
            "name": cold,
            "engine": {
                **SMALL,
                "enforce_eager": eager,
                "moe_hot_experts": "12,5,15,1",
                "moe_cold_rows": cold,
            },
        }
        for cold in ("mirror", "exclusive")
    ]
    return laid("0.32.0", "cpu-twobank").run_jobs("tier_trace.py", jobs, folder=folder)


def require_exact(found: Any) -> None:  # noqa: ANN401 - JSON
    for each in found.values():
        assert each["counted"] == each["traced"]
        assert each["tokens"] == each["asked"]
        assert [sum(layer) for layer in each["counted"]] == [each["tokens"] * K] * LAYERS
        assert all(min(layer) > 0 for layer in each["counted"])
        assert each["banks"]["swaps"] > 0
        assert each["banks"]["failed"] == 0
        assert each["banks"]["audit"] == []


@pytest.mark.engine
def test_eager(laid: Callable[..., Laid], tmp_path: Path) -> None:
    require_exact(traced(laid, tmp_path, eager=True))


@pytest.mark.engine_full
def test_compiled(laid: Callable[..., Laid], tmp_path: Path) -> None:
    require_exact(traced(laid, tmp_path, eager=False))
