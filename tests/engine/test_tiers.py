"""Picks by bank: hits + misses are the picks, exactly, and each bank's are those of the trace."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.counting import LAYERS, K, routed_tokens, thrown_away
from tests.engine.lane_python import Laid

SMALL = {
    "block_size": 32,
    "max_num_batched_tokens": 64,
    "enable_prefix_caching": False,
    "moe_usage_counter": False,
}
NGRAM = {
    "method": "ngram",
    "num_speculative_tokens": 3,
    "prompt_lookup_min": 1,
    "prompt_lookup_max": 4,
}


def traced(laid: Callable[..., Laid], folder: Path, **engine: object) -> Any:  # noqa: ANN401 - JSON
    jobs = [
        {
            "name": cold,
            "engine": {
                **SMALL,
                **engine,
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
        assert each["steps"]["preempted"] == 0
        tokens = routed_tokens(each) + thrown_away(each)
        assert each["tokens"] == each["steps"]["tokens"] == tokens
        assert [sum(layer) for layer in each["counted"]] == [tokens * K] * LAYERS
        assert all(min(layer) > 0 for layer in each["counted"])
        assert each["banks"]["swaps"] > 0
        assert each["banks"]["failed"] == 0
        assert each["banks"]["audit"] == []


@pytest.mark.engine
def test_eager(laid: Callable[..., Laid], tmp_path: Path) -> None:
    found = traced(laid, tmp_path, enforce_eager=True)
    require_exact(found)
    assert [thrown_away(each) for each in found.values()] == [0, 0]


@pytest.mark.engine
def test_drafts_that_are_verified_are_counted_in_the_bank_that_served_them(
    laid: Callable[..., Laid], tmp_path: Path
) -> None:
    found = traced(laid, tmp_path, enforce_eager=True, speculative_config=NGRAM)
    require_exact(found)
    for each in found.values():
        assert 0 < each["drafts"]["taken"] < each["drafts"]["scheduled"], each["drafts"]
        assert thrown_away(each) > 0


@pytest.mark.engine_full
def test_compiled(laid: Callable[..., Laid], tmp_path: Path) -> None:
    require_exact(traced(laid, tmp_path, enforce_eager=False))
