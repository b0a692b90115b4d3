"""Cold rows that a file has: swapped, poisoned, asked for; and engines that are served from one."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.engine.lane_python import INSIDE, Laid

pytestmark = pytest.mark.engine

SCRIPT = "cold_rows.py"
CHECKS = (
    "every_row_is_whole_in_memory_and_out_of_it",
    "swaps_and_forwards_are_the_resident_layers",
    "each_step_must_read_the_pages_of_its_own_cold_rows",
    "a_demotion_copies_nothing",
    "poisoned_rows_of_a_file_are_nan_and_come_back",
    "a_row_that_is_asked_for_comes_alone",
    "picks_ask_for_cold_rows_once_each",
    "the_op_asks_too",
)
PROMPTS = ("The lane is open", "def barrier(rows):", "Experts 3, 7 and 11 answer")
TOKENS = 24
ENGINE: Mapping[str, Any] = {
    "max_model_len": 512,
    "max_num_seqs": 16,
    "enforce_eager": True,
    "enable_prefix_caching": False,
    "moe_usage_counter": None,
    "moe_hot_experts": "12",
}


@pytest.mark.parametrize("check", CHECKS)
def test_cold_rows(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT


@pytest.fixture(scope="module")
def engines(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401 - JSON
    """What engines answered whose cold rows are in memory and in a file, swaps between."""
    jobs = [
        {
            "name": mode,
            "engine": {**ENGINE, "moe_cold_rows": mode},
            "fault": None,
            "force": [4, 2, 7],
            "prompts": PROMPTS,
            "max_tokens": TOKENS,
        }
        for mode in ("mirror", "file")
    ]
    folder = tmp_path_factory.mktemp("cold")
    return laid("0.32.0", "cpu-twobank").run_jobs("two_bank_faults.py", jobs, folder=folder)


def test_a_file_answers_as_memory_does(engines: Mapping[str, Any]) -> None:
    mirror, file = engines["mirror"], engines["file"]
    assert file["ids"] == mirror["ids"]
    assert file["bits"] == mirror["bits"]
    for each in (mirror, file):
        assert (each["banks"]["audit"], each["banks"]["failed"]) == ([], 0)
        assert each["banks"]["swaps"] > 0


def test_each_step_read_its_cold_rows_and_gave_them_back(engines: Mapping[str, Any]) -> None:
    assert engines["mirror"]["banks"]["file"] is None
    banks, rows = engines["file"]["banks"], 4 * 16
    file, row = banks["file"], banks["row_bytes"][0]
    assert file["kept"] == 0
    assert 0 <= file["bytes"] - rows * row < rows * 4096
    assert file["locked"] >= 4 * 12 * row
    assert file["steps"] == len(PROMPTS) * TOKENS == banks["forwards"]
    # The rows of one step are read once in it, in whole pages; over all, each many times.
    assert file["once"] * 4 < file["least"] <= file["read"]
    assert file["read"] <= banks["cold_picks"] * (row + 2 * 4096)
    assert json.dumps(file)
