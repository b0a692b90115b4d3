"""The printed plan's terms are what the engine then has: other weights, and tokens of KV cache."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest

from expert_bank.sizes import told as size
from tests.engine.lane_python import Laid

Found = Mapping[str, Any]
LANES = (
    ("cpu-twobank", "0.30.0", pytest.mark.engine),
    ("cpu-twobank", "0.31.0", pytest.mark.engine_full),
    ("cpu-twobank", "0.32.0", pytest.mark.engine),
    ("cpu-mxfp4", "0.32.0", pytest.mark.engine),
    ("cpu-dsv4", "0.32.0", pytest.mark.engine),
)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((lane, version), id=f"{lane}-{version}", marks=tier)
        for lane, version, tier in LANES
    ],
)
def found(
    request: pytest.FixtureRequest,
    laid: Callable[..., Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> Found:
    """What a lane's engine planned, and had."""
    lane, version = request.param
    on = laid(version, lane)
    engine = {"moe_usage_counter": None, **on.lane.engine}
    job = {"name": "planned", "engine": engine}
    folder = tmp_path_factory.mktemp("planning")
    result: Found = on.run_jobs("planning.py", [job], folder=folder)["planned"]
    return {**result, "lane": lane}


def test_other_weights_are_the_loaded_models(found: Found) -> None:
    assert found["other"] == found["weights"] > 0
    assert f"{size(found['other']):>12}  other weights" in "\n".join(found["lines"])


def test_rows_are_as_large_as_those_of_the_banks(found: Found) -> None:
    assert found["rows"] == found["banked"]


def test_on_a_cuda_device_they_are_out_of_what_is_free_and_no_term_twice(found: Found) -> None:
    assert found["cuda_spare"] == found["cuda_free"]


def test_tokens_are_those_of_the_cache_that_vllm_allocates(found: Found) -> None:
    each = Fraction(*found["token"])
    tokens = found["requests"] * found["length"]
    assert found["packed"] == (found["lane"] == "cpu-dsv4")
    if found["packed"]:
        # Each of its caches has blocks of its own, all as wide as the widest.
        assert each < found["cache"] / tokens < 2 * each
    else:
        assert each * int(tokens) == found["cache"]


def test_what_is_bought_is_told_in_tokens(found: Found) -> None:
    (line,) = (each for each in found["lines"] if each.startswith("against all experts"))
    told = re.fullmatch(r".*: (.*) bought, (at most )?(\d+) tokens of KV cache at .* each", line)
    assert told
    assert told[1] == size(found["bought"])
    assert bool(told[2]) == found["packed"]
    assert int(told[3]) == found["bought"] // Fraction(*found["token"])


def test_nothing_is_told_of_what_there_is_not(found: Found) -> None:
    assert not any("staging" in each for each in found["lines"])
