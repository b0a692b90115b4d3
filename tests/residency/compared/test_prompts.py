"""A map that goes by what requests are like: told as an engine tells it, and where that wins."""

import numpy as np
import pytest

from expert_bank.eams.running import RunningEams
from expert_bank.pace import Pace
from expert_bank.policy import Policy
from lanewright.residency.compared.maps import following
from lanewright.residency.compared.prompts import ByPrompts
from lanewright.residency.compared.setting import Setting
from lanewright.residency.trace_file.recorded import DECODE, PREFILL, Recorded
from tests.residency import requests, traffic

KINDS, LAYERS, EXPERTS, PICKS = 8, 2, 64, 4
PROMPT, ANSWER = 24, 104


def served(count: int, seed: int, *, prompts_tell: bool = True) -> Recorded:
    """Requests one after the other, of a kind each; a prompt in two parts, then token by token."""
    kinds = [traffic.zipf(LAYERS, EXPERTS, 100 + each, exponent=1.5) for each in range(KINDS)]
    order = (traffic.drawn((seed, 9), (count,)) * KINDS).astype(int)
    parts, length = [], PROMPT + ANSWER
    for number, kind in enumerate(order):
        prompt = kinds[kind if prompts_tell else 0]
        parts.append(traffic.sampled(prompt, PROMPT, PICKS, 1000 * seed + 2 * number))
        parts.append(traffic.sampled(kinds[kind], ANSWER, PICKS, 1000 * seed + 2 * number + 1))
    within = np.concatenate([np.arange(PROMPT) * 2 // PROMPT, 2 + np.arange(ANSWER)])
    phase = np.where(np.arange(length) < PROMPT, PREFILL, DECODE).astype(np.uint8)
    return requests.recorded(
        np.concatenate(parts),
        EXPERTS,
        forward=np.concatenate([within + each * (2 + ANSWER) for each in range(count)]),
        request=np.arange(count).repeat(length),
        position=np.tile(np.arange(length), count),
        phase=np.tile(phase, count),
    )


def setting(found: Recorded, past: Recorded | None = None) -> Setting:
    boot = np.arange(EXPERTS)[None].repeat(LAYERS, 0) < 24
    return Setting(trace=found, boot=boot, rows=(24,) * LAYERS, row=10**6, past=past)


PACE = Pace(every=4, swaps=16, tokens_per_swap=0, residence=0, half_life=256)


@pytest.mark.parametrize("tells", [True, False])
def test_it_wins_where_prompts_tell_what_comes_and_loses_where_they_mislead(*, tells: bool) -> None:
    on = setting(served(40, 1, prompts_tell=tells), served(32, 2, prompts_tell=tells))
    by_picks, by_prompts = (
        following(on, PACE, by_eams=each).cold[PROMPT:].sum() for each in (False, True)
    )
    if tells:
        assert by_prompts < 0.9 * by_picks
    else:
        assert by_prompts > by_picks


def test_a_policy_is_told_what_an_engine_tells_it() -> None:
    found = requests.mixed()
    on = Setting(trace=found, boot=np.arange(16)[None].repeat(3, 0) < 8, rows=(8,) * 3, row=10)
    policy = Policy([*on.boot], rows=on.rows, row_bytes=[10] * 3, picks_per_token=2)
    barriers = [3, 6, 10, 12]
    by_prompts = ByPrompts(policy, on, barriers)
    for stop in barriers:
        by_prompts.step(np.zeros((3, 16), np.int64), [*on.boot], 10)
        # By hand: prompts are the first three tokens of request 0, and two of request 1; 0 has
        # its last token in forward 3, which the token at 9 is.
        eams = RunningEams(3, 16, on.infinity.capacity)
        eams.see(0, 0, found.ids[:3])
        if stop > 3:
            eams.see(1, 0, found.ids[4:6])
        if stop > 9:
            eams.end(0)
        if stop > 11:
            eams.end(1)
        told = by_prompts.eams.told()
        assert {**told, "predictions": 0} == eams.told()
        assert (by_prompts.eams.past.eams == eams.past.eams).all()


def test_requests_in_front_of_the_trace_are_kept_from_the_start() -> None:
    past = served(6, 3)
    policy = Policy(
        [np.arange(EXPERTS) < 24] * 2, rows=[24] * 2, row_bytes=[1] * 2, picks_per_token=4
    )
    found = ByPrompts(policy, setting(served(1, 4), past), [1])
    assert found.eams.told() == {"kept": 6, "running": 0, "predictions": 0}
