"""Where counts would not be exact, an engine that is to count does not come up, and says why."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

EAGER = {"enforce_eager": True}
JOBS = (
    {"name": "expert_parallel", "engine": {**EAGER, "enable_expert_parallel": True}},
    {"name": "lora", "engine": {**EAGER, "enable_lora": True}},
    {"name": "rival", "engine": EAGER, "rival": True},
    {"name": "loaded", "engine": EAGER, "loaded": True},
)
CAUSES = {
    "expert_parallel": "expert parallelism is on",
    "lora": "LoRA is on",
    "rival": "RoutedExperts is already replaced by __main__.",
    "eplb": "expert load balancing is on",
    "data_parallel": "a forward holds other data-parallel ranks' tokens",
    "micro_batches": "a forward is split into micro-batches",
    "context_parallel": "a forward holds other ranks' part of a prompt",
    "drafts_taken_back": "ngram_gpu takes drafts back once a step is under way",
    "drafts_cut": "drafts are cut once a step is under way (enable_adaptive_verification)",
    "parts_of_a_prompt": "some layers leave out a prompt's tokens (kv_sharing_fast_prefill)",
    "ends_of_a_prompt": "switch it off with --no-swa-bounded-replay",
    "no_moe_layer": "the model has no MoE layer",
    "monolithic": "only routes inside its kernel (UnquantizedFusedMoEMethod)",
    "uneven": "its layers differ in their number of experts or of picks",
    "not_ours": "model.layers.3.mlp.experts.routed_experts is a "
    "vllm.model_executor.layers.fused_moe.routed_experts.RoutedExperts",
}


@pytest.fixture(scope="module")
def told(
    laid: Callable[[str], Laid], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str | None]:
    """By case, what was said."""
    folder = tmp_path_factory.mktemp("refusals")
    found: dict[str, Any] = laid("0.32.0").run_jobs("refusals.py", JOBS, folder=folder)
    return {case: text for job in found.values() for case, text in job.items()}


@pytest.mark.parametrize("case", CAUSES)
def test_refusal_names_the_counter_and_the_cause(told: dict[str, str | None], case: str) -> None:
    message = told[case] or ""
    assert message.startswith("moe_usage_counter")
    assert CAUSES[case] in message


def test_nothing_else_is_refused(told: dict[str, str | None]) -> None:
    others = ("nothing", "drafts", "another_model", "all_of_a_prompt")
    assert {case: told[case] for case in others} == dict.fromkeys(others)
    assert set(told) == {*CAUSES, *others}
