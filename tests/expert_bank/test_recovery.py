"""What the planner says of a switch of traffic, against replays of the policy that serves."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from expert_bank.layer_shape import LayerShape
from expert_bank.pace import Pace
from expert_bank.plan import Mode, Plan
from expert_bank.policy import Policy
from expert_bank.recovery import Recovery, most_swaps, needed_swaps, recovery
from expert_bank.recovery_line import recovery_line
from lanewright.residency.fixed import fixed_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.replay import Replayed, replay
from lanewright.residency.trace import Trace, counted
from tests.expert_bank import plans
from tests.residency import traffic

E, K, H, LAYERS = 64, 4, 49, 2
BEFORE = 12_288
MIB = 2**20


def planned(*hot: int, experts: int = E, mode: Mode = "mirror", row: int = MIB) -> Plan:
    return plans.planned(*hot, experts=experts, picks=K, mode=mode, row=row)


def shapes(sizes: Sequence[int]) -> tuple[LayerShape, ...]:
    return tuple(LayerShape(E, K, {"w": size}, E * size, E * size) for size in sizes)


PLAN = planned(H, H)


def replayed(
    plan: Plan, pace: Pace, ids: Trace, boot: NDArray[np.bool_], per_forward: int = 1
) -> Replayed:
    sizes = [layer.row for layer in plan.layers]
    policy = Policy(
        [*boot],
        rows=plan.hot,
        row_bytes=sizes,
        picks_per_token=K,
        rows_per_swap=1 if plan.mode == "mirror" else 2,
        pace=pace,
    )
    return replay(
        policy,
        ids,
        boot,
        every=pace.every * per_forward,
        rows=plan.hot,
        row_bytes=sizes,
        mirror=plan.mode == "mirror",
        budget_bytes=2**63 if pace.bytes is None else pace.bytes,
    )


def even_switch(layers: int, tokens: int) -> Trace:
    """Experts 0..H-1 picked alike, and then the last H."""
    weights = np.full((2, layers, E), 1e-12)
    weights[0, :, :H] = weights[1, :, E - H :] = 1
    before = traffic.sampled(weights[0], BEFORE, K, 0)
    return np.concatenate([before, traffic.sampled(weights[1], tokens, K, 1)])


def done_by(found: Replayed, every: int) -> int:
    """Tokens behind the switch after which no swap was made."""
    last = max(number for number, swaps in enumerate(found.swaps) if swaps)
    return (last + 1) * every - BEFORE


PACES = {
    "default": (PLAN, Pace(), 1),
    "slow": (PLAN, Pace(tokens_per_swap=700), 1),
    "one at a barrier": (PLAN, Pace(swaps=1, tokens_per_swap=100), 1),
    "many users": (PLAN, Pace(), 16),
    "short memory": (PLAN, Pace(half_life=1024), 1),
    "no chance": (PLAN, Pace(noise=0), 1),
    "bytes": (planned(H, H, H), Pace(tokens_per_swap=0, bytes=MIB), 1),
    "bytes, exclusive": (planned(H, H, mode="exclusive"), Pace(bytes=5 * MIB, swaps=4), 16),
    "bytes and pace": (planned(H, H, H), Pace(bytes=MIB), 1),
}


@pytest.mark.parametrize(("plan", "pace", "per_forward"), PACES.values(), ids=PACES)
def test_a_replay_recovers_in_time_and_not_much_sooner(
    plan: Plan, pace: Pace, per_forward: int
) -> None:
    told = recovery(plan, pace, tokens_per_forward=per_forward)
    assert told.tokens is not None
    ids = even_switch(len(plan.hot), 2 * told.tokens)
    boot = np.arange(E)[None].repeat(len(plan.hot), 0) < H
    found = replayed(plan, pace, ids, boot, per_forward)
    assert (found.hot == boot[:, ::-1]).all()
    assert sum(map(len, found.swaps)) == sum(told.swaps) == 15 * len(plan.hot)
    assert sum(found.bytes) == told.bytes
    assert told.tokens / 2 < done_by(found, told.tokens_per_barrier) <= told.tokens


@pytest.mark.parametrize("kind", [traffic.switch, traffic.reverse])
def test_favourites_are_swapped_in_by_then(kind: Any) -> None:  # noqa: ANN401 - a kind of traffic
    told = recovery(PLAN, Pace())
    assert told.tokens is not None
    ids = kind(BEFORE + 2 * told.tokens, LAYERS, E, K, at=BEFORE)
    before, after = ids[:BEFORE], ids[BEFORE:]
    boot, best = (oracle_map(counted(part, E), PLAN.hot) for part in (before, after))
    moved = replayed(PLAN, Pace(), ids, boot).cold[BEFORE:]
    stood, least = fixed_cold(after, boot), fixed_cold(after, best)

    def won_back(start: int, stop: int) -> float:
        """Of what the switch cost."""
        won = stood[start:stop].sum() - moved[start:stop].sum()
        return float(won / (stood[start:stop].sum() - least[start:stop].sum()))

    end = told.tokens
    assert won_back(0, end // 8) < 0.6
    assert won_back(end // 2, end) > 0.7
    assert won_back(end, 2 * end) > 0.9


def test_the_worst_switch_and_an_exact_one() -> None:
    plan = planned(49, 15, 0, 64)
    assert most_swaps(plan) == (15, 15, 0, 0)
    hot = [np.arange(64) < rows for rows in plan.hot]
    wanted = [np.roll(layer, shift) for layer, shift in zip(hot, (3, 15, 0, 1), strict=True)]
    assert needed_swaps(hot, wanted) == (3, 15, 0, 0)
    exact = recovery(plan, Pace(), swaps=needed_swaps(hot, wanted))
    assert exact.bytes == 18 * MIB
    assert exact.swaps == (3, 15, 0, 0)
    alone = recovery(plan, Pace(), swaps=(3, 0, 0, 0))
    assert (alone.made, exact.made) == (12, 60)


def test_exclusive_banks_copy_two_rows() -> None:
    assert recovery(PLAN, Pace()).bytes == 30 * MIB
    assert recovery(planned(H, H, mode="exclusive"), Pace()).bytes == 60 * MIB


@pytest.mark.parametrize(
    ("pace", "per_forward", "made"),
    [
        (Pace(), 1, 60),  # 64 tokens a barrier, 256 a swap
        (Pace(), 4, 15),
        (Pace(), 8, 8),
        (Pace(), 100, 8),  # two at a barrier and no more
        (Pace(tokens_per_swap=0), 1, 8),
        (Pace(tokens_per_swap=100), 1, 24),  # 0.64 of a swap at each
        (Pace(tokens_per_swap=100, swaps=1), 1, 30),  # what is over one is lost
    ],
)
def test_a_layers_own_pace(pace: Pace, per_forward: int, made: int) -> None:
    assert recovery(PLAN, pace, tokens_per_forward=per_forward).made == made


@given(st.integers(1, 300), st.integers(1, 4), st.integers(1, 900), st.integers(1, 15))
def test_a_pace_is_as_the_policy_earns_it(tokens: int, swaps: int, every: int, count: int) -> None:
    pace = Pace(every=tokens, swaps=swaps, tokens_per_swap=every)
    credit, barriers, left = 0.0, 0, count
    while left > 0:
        credit = min(credit + tokens / every, swaps)
        # A sum of floats may be short of a whole by its last bits.
        spent = int(credit + 1e-9)
        credit, left, barriers = credit - spent, left - spent, barriers + 1
    assert recovery(planned(H), pace, swaps=[count]).made == barriers


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), min_size=1, max_size=5),
    st.integers(4, 12),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_no_order_of_swaps_takes_longer(
    layers: list[tuple[int, int]], budget: int, swaps: int, random: Random
) -> None:
    plan = replace(
        planned(*[H] * len(layers)),
        layers=shapes([size for _, size in layers]),
    )
    pace = Pace(tokens_per_swap=0, swaps=swaps, bytes=budget)
    left = [count for count, _ in layers]
    told = recovery(plan, pace, swaps=left)
    barriers = 0
    while any(left):
        barriers += 1
        asked = [layer for layer, count in enumerate(left) for _ in range(min(count, swaps))]
        random.shuffle(asked)
        spent = 0
        for layer in asked:
            if spent + layers[layer][1] <= budget:
                spent += layers[layer][1]
                left[layer] -= 1
    assert told.made is not None
    assert barriers <= told.made
    whole = sum(count * size for count, size in layers)
    assert told.made >= max(ceil(whole / budget), *(ceil(count / swaps) for count, _ in layers))


def test_residence_holds_up_what_was_moved_just_before() -> None:
    assert recovery(PLAN, Pace()).seen == 58
    assert recovery(PLAN, Pace(residence=6400)).seen == 100


def test_seconds() -> None:
    found = Recovery((15, 15), 57, 60, 128, 64, 30 * MIB)
    assert (found.barriers, found.tokens) == (118, 118 * 128)
    assert found.copy_seconds(0.1) == 30 * MIB / 1e8
    assert found.seconds(0.01) == pytest.approx(118 * 64 * 0.01)
    assert found.seconds(0.01, 0.1) == pytest.approx(118 * 64 * 0.01 + 30 * MIB / 1e8)
    for never in (replace(found, seen=None), replace(found, made=None)):
        assert (never.barriers, never.tokens, never.seconds(0.01)) == (None, None, None)


FOUR = planned(H, H, H, H)
NEEDED = "after a switch of traffic at most 15 swaps a layer are needed, 60 in all (60.00 MiB)"


@pytest.mark.parametrize(
    ("plan", "pace", "more", "line"),
    [
        (
            FOUR,
            Pace(),
            {},
            f"{NEEDED}: 7616 tokens at 1 a forward, 3712 of them to tell it from chance",
        ),
        (
            FOUR,
            Pace(),
            {"tokens_per_forward": 16, "step": 0.02, "link": 0.5},
            (
                f"{NEEDED}: 13312 tokens at 16 a forward, 4096 of them to tell it from chance;"
                " 16.8 s at 20 ms a forward; 0.126 s of copies at 0.5 GB/s"
            ),
        ),
        (
            FOUR,
            Pace(half_life=128),
            {},
            (
                f"{NEEDED}; an expert with an even share of the picks may never be told from chance at"
                " half_life=128: raise it, or lower noise=6.0"
            ),
        ),
        (
            FOUR,
            Pace(bytes=MIB - 1),
            {},
            f"{NEEDED}; never made: a swap copies more than bytes=1048575 of a barrier",
        ),
        (
            planned(E, 0),
            Pace(),
            {},
            "after a switch of traffic: no layer has both hot and cold experts, nothing is swapped",
        ),
    ],
)
def test_a_line_of_it(plan: Plan, pace: Pace, more: dict[str, Any], line: str) -> None:
    assert recovery_line(plan, pace, **more) == line


def test_a_line_also_tells_it_for_the_most_sequences_at_once() -> None:
    line = recovery_line(FOUR, Pace(), sequences=256)
    most = recovery(FOUR, Pace(), tokens_per_forward=256)
    assert most.tokens is not None
    assert most.seen is not None
    assert line == (
        f"{recovery_line(FOUR, Pace())}; {most.tokens} tokens at 256 a forward (max_num_seqs, one a"
        f" sequence), {most.seen * 64 * 256} of them to tell it from chance"
    )
    assert recovery_line(FOUR, Pace(), sequences=1) == recovery_line(FOUR, Pace())


def test_the_larger_rows_of_one_layer_may_be_over_the_budget() -> None:
    plan = replace(FOUR, layers=shapes([1, 2, 3, 4]))
    assert recovery(plan, Pace(bytes=3)).made is None
    assert recovery(plan, Pace(bytes=3), swaps=(1, 1, 1, 0)).made is not None
