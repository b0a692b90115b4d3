"""What honest workers answer, and what is asked of them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.boot import Completion
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence
from lanewright.serve.proof import prove

OURS = "expert_bank.glue.experts.CountedExperts"
THEIRS = "vllm.model_executor.layers.fused_moe.routed_experts.RoutedExperts"
# Prompts of 5 and 20 tokens, 16 of them cached, answers of 3 and 4: 5 + 3 - 1 + 20 + 4 - 1 - 16.
ANSWERS = (
    Completion("a", (1, 2, 3), "", prompt_tokens=5, cached_tokens=0),
    Completion("b", (1, 2, 3, 4), "", prompt_tokens=20, cached_tokens=16),
)
TOKENS = 14
MOE = {"layers": 2, "experts": 3, "picks_per_token": 2}
PICKS = TOKENS * 2 * 2


def status(*, on: bool, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    found = {"plugin": True, "pid": 42, "moe_usage_counter": on, "moe_hot_experts": "", "ops": on}
    found |= {"experts": [OURS if on else THEIRS], "prefetch_copies": None}
    return found | changed


def usage(**changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """Two layers, of whose three experts each token picks two."""
    return {
        "model": "/models/sample",
        "layers": ["a", "b"],
        "picks_per_token": 2,
        "tokens": TOKENS,
        "counts": rows(TOKENS),
    } | changed


def rows(tokens: int) -> list[list[int]]:
    return [[tokens, tokens, 0], [0, tokens, tokens]]


def banks(**changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """Two of three experts hot in each layer; they served all but ten picks, and none was swapped."""
    return {
        "hot_rows": [2, 2],
        "hot_picks": PICKS - 10,
        "cold_picks": 10,
        "row_bytes": [96, 96],
        "forwards": 7,
        "barriers": 0,
        "swaps": 0,
        "failed": 0,
        "cut": 0,
        "bytes": 0,
        "seconds": 0.0,
        "failures": [],
        "closed": [],
        "audit": [],
    } | changed


def on(**changed: Any) -> Evidence:  # noqa: ANN401
    """Counting workers, all of whose experts are resident."""
    honest = Evidence((status(on=True),), (usage(),), ANSWERS)
    return whole(dataclasses.replace(honest, **changed))


def off(**changed: Any) -> Evidence:  # noqa: ANN401
    """A worker of vLLM's own."""
    return Evidence((status(on=False, **changed),), (None,), ANSWERS, banks=(None,))


def whole(evidence: Evidence) -> Evidence:
    """Say of each worker what its model has, and that it has no banks, where nothing is said."""
    workers = len(evidence.status)
    return dataclasses.replace(
        evidence, moe=evidence.moe or (MOE,) * workers, banks=evidence.banks or (None,) * workers
    )


def refusal(lane: LaneEnv, engine: Mapping[str, object], evidence: Evidence) -> MismatchError:
    """Why evidence proves nothing, or the wrong thing."""
    with pytest.raises(MismatchError) as caught:
        prove(lane, engine, evidence, "a boot")
    assert str(caught.value).startswith("a boot: ")
    return caught.value


def refused(lane: LaneEnv, engine: Mapping[str, object], evidence: Evidence) -> str:
    """The same, without the boot's name."""
    return str(refusal(lane, engine, evidence)).removeprefix("a boot: ")
