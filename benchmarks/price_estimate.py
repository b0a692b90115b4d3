"""What the planner says of a switch of traffic whose cold rows come from a disk."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.inside_lane import Facts
from expert_bank.layer_shape import LayerShape
from expert_bank.pace import Pace
from expert_bank.plan import Plan
from expert_bank.recovery import needed_swaps, recovery

PAGE = 4096


def plan_of(found: Facts) -> Plan:
    """Plan the banks that an engine had, by what it told of them; free bytes play no part here."""
    experts, picks = found["experts"], found["picks"]
    layers = tuple(
        LayerShape(experts, picks, {"row": row}, row * experts, row * experts)
        for row in found["row_bytes"]
    )
    return Plan(
        layers=layers,
        hot=tuple(found["hot_rows"]),
        mode="file",
        page=PAGE,
        other=0,
        free_device=0,
        free_host=0,
        kv_per_token=None,
    )


def random_bytes(plan: Plan) -> float:
    """Bytes of the cold rows that one token picks in all layers where it picks at random."""
    return sum(
        layer.picks * (1 - hot / layer.experts) * layer.row
        for layer, hot in zip(plan.layers, plan.hot, strict=True)
    )


def estimate(found: Facts, pace: Pace) -> str:
    """Tell what the planner expects: bytes of a step, and what following takes at most.

    Args:
        found: As ``inside/cold_price.py`` wrote it.
        pace: How the map followed.
    """
    plan = plan_of(found)
    boot, moved = (hot_states(found["maps"][name], found["experts"]) for name in ("boot", "moved"))
    each = max(1, round(found["tokens"] / found["forwards"]))
    swaps = needed_swaps(boot, moved)
    known = recovery(plan, pace, tokens_per_forward=each, swaps=swaps)
    worst = recovery(plan, pace, tokens_per_forward=each)
    return (
        f"by the planner: {random_bytes(plan) / 2**20:.2f} MiB a step where picks are drawn at random;"
        f" from the one map to the other {sum(swaps)} swaps, at most {known.tokens} tokens at {each} a"
        f" forward, and {worst.tokens} after the worst switch; the map followed {found['tokens']} tokens"
    )


def hot_states(ids: Sequence[Sequence[int]], experts: int) -> list[NDArray[np.bool_]]:
    """Tell of each layer which experts are hot, bool[E], by the ids of those."""
    states = [np.zeros(experts, np.bool_) for _ in ids]
    for state, hot in zip(states, ids, strict=True):
        state[list(hot)] = True
    return states
