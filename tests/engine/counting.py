"""What must be true of a scenario that ran in a counting engine."""

from collections.abc import Callable, Mapping
from typing import Any

from lanewright.serve.recipes import RECIPES

MODEL = RECIPES["qwen3-moe-tiny"]
K, LAYERS, EXPERTS = (
    int(MODEL[name]) for name in ("num_experts_per_tok", "num_hidden_layers", "num_experts")
)
Facts = Mapping[str, Any]
PINS = ("0.30.0", "0.31.0", "0.32.0")


def ended(facts: Facts, why: str | None) -> int:
    """Count the answers that ended so; None is for those that were aborted."""
    return sum(1 for each in facts["asked"] for end in each["ended"] if end == why)


def routed_tokens(facts: Facts) -> int:
    """Tokens that were routed, by the outputs alone: prompt + output - 1 - cached."""
    scheduled: int = sum(
        each["prompt"] + output - 1 for each in facts["asked"] for output in each["outputs"]
    )
    cached: int = sum(each["cached"] for each in facts["asked"])
    return scheduled - cached


def thrown_away(facts: Facts) -> int:
    """Tokens that were routed and are in no answer: wrong drafts, and what is past the end."""
    drafts = facts["drafts"]
    answered = sum(sum(each["outputs"]) for each in facts["asked"])
    return int(drafts["scheduled"] - drafts["taken"] + drafts["sampled"] - answered)


# What shows that a scenario really happened.
HAPPENED: Mapping[str, Callable[[Facts], bool]] = {
    "one_at_a_time": lambda facts: facts["steps"]["widest"] == 1 and len(facts["asked"]) == 16,
    "every_length": lambda facts: (
        [each["prompt"] for each in facts["asked"]] == list(range(1, 201))
    ),
    "eight_at_once": lambda facts: facts["steps"]["widest"] == 8,
    "sixteen_at_once": lambda facts: facts["steps"]["widest"] == 16,
    "chunked_prefill": lambda facts: facts["steps"]["split"] > 0,
    "prefix_cache_hits": lambda facts: sum(each["cached"] > 0 for each in facts["asked"]) >= 4,
    "stop_tokens": lambda facts: ended(facts, "stop") == 8,
    "stop_tokens_at_once": lambda facts: ended(facts, "stop") > 1 and facts["steps"]["widest"] == 8,
    "preemption": lambda facts: facts["steps"]["preempted"] > 0,
    "prefill_alone": lambda facts: all(each["outputs"] == [1] for each in facts["asked"]),
    "several_answers": lambda facts: all(len(each["outputs"]) == 3 for each in facts["asked"]),
    "aborted": lambda facts: ended(facts, None) == 4 and ended(facts, "length") == 4,
}


SCENARIOS = tuple(name for name in HAPPENED if name != "every_length")


def tight(mode: str) -> dict[str, Any]:
    """Job for an engine so small that all can happen in it.

    Prompts are split, prefixes shared within 200 tokens, and requests preempted.

    Args:
        mode: ``eager``, ``compiled``, or ``ahead``: eager, with a scheduler a step ahead.
    """
    small = {"block_size": 32, "max_num_batched_tokens": 64, "num_gpu_blocks_override": 96}
    return {
        "name": mode,
        "engine": {**small, "enforce_eager": mode != "compiled"},
        "scenarios": SCENARIOS,
        "ahead": mode == "ahead",
        "captured": True,
    }


def require_idle(found: Mapping[str, Any], mode: str) -> None:
    """Such an engine came up, and nothing of its boot was counted."""
    assert found["compiled"] is (mode == "compiled")
    assert found["ahead"] is (mode == "ahead")
    assert found["boot"]["tokens"] == 0
    assert found["boot"]["counts"] == [[0] * EXPERTS] * LAYERS


def require_exact(scenario: str, facts: Facts, *, ahead: bool = False) -> None:
    """Every pick was counted once, for as many tokens as the outputs say.

    Args:
        scenario: Its name.
        facts: What ``inside/bench.py`` wrote of it.
        ahead: Whether the scheduler ran a step ahead: what ends before its length has then been
            scheduled for one more step, whose token is routed and thrown away.
    """
    assert HAPPENED[scenario](facts), (facts["asked"], facts["steps"])
    tokens = routed_tokens(facts)
    if scenario == "preemption":
        # Outputs do not tell what was computed again; the scheduler's own steps do.
        assert facts["steps"]["tokens"] > tokens
        tokens = facts["steps"]["tokens"]
    else:
        assert facts["steps"]["preempted"] == 0
        tokens += ended(facts, "stop") + ended(facts, None) if ahead else 0
    assert [sum(row) for row in facts["counts"]] == [tokens * K] * LAYERS
    assert facts["tokens"] == facts["steps"]["tokens"] == tokens
    assert facts["routed"] in (None, facts["counts"])
