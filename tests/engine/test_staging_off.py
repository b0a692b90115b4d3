"""A staging buffer that holds no layer's cold rows: nothing is staged, and everything says so."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

OFF, WITHOUT = "off", "without"
# 4 of 16 experts are cold, and a row has 48 KiB.
WHY = (
    "moe_prefill_stage: nothing is staged: a layer has 4 cold rows (192.00 KiB), and"
    " moe_prefill_stage '1KiB' has room for 0"
)
STAGING = ("expert_bank_staged_", "expert_bank_unstaged_", "expert_bank_staging_")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("off")


@pytest.fixture(scope="module")
def found(laid: Callable[..., Laid], folder: Path) -> Mapping[str, Any]:
    """What the lane answers and tells with such a buffer, and without any."""
    lane = laid("0.32.0", "cpu-staging")
    engine = {**lane.lane.engine, "moe_usage_counter": None, "enable_prefix_caching": False}
    asked = {"calls": [], "alone": [1, 64], "together": [8, 65], "tokens": 4}
    asked |= {"shared": 0, "replayed": []}
    rooms = {OFF: "1KiB", WITHOUT: None}
    jobs = [
        {"name": name, "engine": {**engine, "moe_prefill_stage": room}, **asked}
        for name, room in rooms.items()
    ]
    stats = folder / "stats"
    stats.mkdir()
    return lane.run_jobs(
        "staged_answers.py", jobs, folder=folder, environ={"EXPERT_BANK_STATS": str(stats)}
    )


def test_answers_are_those_without_it(found: Mapping[str, Any]) -> None:
    for ours, theirs in zip(found[OFF]["asked"], found[WITHOUT]["asked"], strict=True):
        assert (ours["ids"], ours["bits"]) == (theirs["ids"], theirs["bits"])
    assert found[OFF]["banks"]["cold_picks"] == found[WITHOUT]["banks"]["cold_picks"] > 0


def test_the_start_says_so_in_the_plan_and_as_a_warning(
    found: Mapping[str, Any], folder: Path
) -> None:
    assert [*found] == [OFF, WITHOUT]
    said = [
        each
        for each in (folder / "staged_answers.py.log").read_text().splitlines()
        if each.endswith(WHY)
    ]
    assert [" WARNING " in f" {each}" for each in said] == [False, True], said
    assert "expert_bank: moe_prefill_stage: " in said[1]


def test_the_worker_says_so_whoever_asks(found: Mapping[str, Any]) -> None:
    off = WHY.removeprefix("moe_prefill_stage: nothing is staged: ")
    assert found[OFF]["banks"]["staging"] == {"off": off}
    assert found[WITHOUT]["banks"]["staging"] is None


@pytest.mark.parametrize("name", [OFF, WITHOUT])
def test_metrics_have_no_sample_of_staging(found: Mapping[str, Any], name: str) -> None:
    lines = found[name]["metrics"]
    assert any(each.startswith("expert_bank_forwards_total{") for each in lines), lines
    assert [each for each in lines if each.startswith(STAGING)] == []
