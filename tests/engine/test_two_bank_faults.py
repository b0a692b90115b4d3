"""What goes wrong with two banks shows: in the answers, and by layer and expert in the audit."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

PROMPTS = ("The lane is open", "def barrier(rows):", "Experts 3, 7 and 11 answer")
SETTINGS: Mapping[str, Any] = {
    "max_model_len": 512,
    "max_num_seqs": 16,
    "enforce_eager": True,
    "enable_prefix_caching": False,
    "moe_hot_experts": "12",
}
EXPERT = r"model\.layers\.\d+\.mlp\.experts(\.routed_experts)?, experts? \d+"
# Fault, and what the audit says of it.
FAULTS = {
    "partial_sums": rf"{EXPERT} and \d+: \d+ of \d+ elements of the output differ",
    "exchanged_rows": rf"{EXPERT}: (hot|cold) row \d+ of .*w2_weight.* is not what was loaded",
    "flip_before_copy": rf"{EXPERT}: hot row \d+ of .*w13_weight.* is not what was loaded",
    "scales_left_behind": (
        rf"{EXPERT}: hot row \d+ of w13_weight_scale, w2_weight_scale is not what was loaded"
    ),
    "wrong_bank": rf"{EXPERT}: .*elsewhere than the host's",
}


def job(name: str, fault: str | None, cold: str) -> dict[str, Any]:
    return {
        "name": name,
        "engine": {**SETTINGS, "moe_usage_counter": None, "moe_cold_rows": cold},
        "fault": fault,
        "force": [4, 2, 7],
        "prompts": PROMPTS,
        "max_tokens": 24,
    }


@pytest.fixture(scope="module", params=["cpu-twobank", "cpu-mxfp4"])
def found(
    request: pytest.FixtureRequest,
    laid: Callable[..., Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:  # noqa: ANN401 - JSON
    """What engines answered, with and without faults; every unread copy is poisoned in them."""
    packed = request.param == "cpu-mxfp4"
    jobs = [
        job("honest", None, "mirror"),
        job("honest-exclusive", None, "exclusive"),
        job("honest-file", None, "file"),
    ]
    jobs += [
        job(f"{fault}-{cold}", fault, cold)
        for fault in FAULTS
        for cold in (("exclusive",) if packed else ("mirror",))
        if packed or fault != "scales_left_behind"
    ]
    folder = tmp_path_factory.mktemp("faults")
    environ = {"EXPERT_BANK_POISON": "1"}
    return laid("0.32.0", request.param).run_jobs(
        "two_bank_faults.py", jobs, folder=folder, environ=environ
    )


def test_without_a_fault_every_map_answers_alike(found: Mapping[str, Any]) -> None:
    one, *others = (found[name] for name in ("honest", "honest-exclusive", "honest-file"))
    for other in others:
        assert one["ids"] == other["ids"]
        assert one["bits"] == other["bits"]
    for each in (one, *others):
        assert each["banks"]["audit"] == []
        assert each["banks"]["swaps"] > 0
        assert each["banks"]["failed"] == 0


def test_every_fault_shows_in_the_answers_and_is_named(found: Mapping[str, Any]) -> None:
    honest = found["honest"]
    faulty = {name: each for name, each in found.items() if not name.startswith("honest")}
    assert faulty
    for name, each in faulty.items():
        assert each["bits"] != honest["bits"], name
        told = "\n".join(each["banks"]["audit"])
        assert re.search(FAULTS[name.rpartition("-")[0]], told), (name, told)
