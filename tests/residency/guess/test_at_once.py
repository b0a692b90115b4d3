"""Guessers on requests that are served together, against what a plain loop says."""

from dataclasses import replace

import numpy as np
import pytest

from lanewright.residency.guess.all_requests import cache_so_far
from lanewright.residency.guess.same_request import previous_step, request_frequency
from lanewright.residency.guess.score import score
from lanewright.residency.guess.setting import Phase, Setting
from lanewright.residency.lru import lru_cold
from lanewright.residency.trace_file.recorded import DECODE, PREFILL, VERIFY, require_recorded
from tests.residency import requests, traffic
from tests.residency.guess.asked import asked, several

EXPERTS, PICKS, MANY, FORWARDS = 12, 2, 9, 40


def together(seed: int) -> Setting:
    """Requests that begin at any time: prompts in parts, decode, and drafts of which some are rejected."""
    draw = np.random.Generator(np.random.PCG64(seed))
    begins = draw.integers(0, FORWARDS // 2, MANY)
    place, rows = [0] * MANY, []
    for forward in range(FORWARDS):
        for request in draw.permutation(MANY).tolist():
            if forward < begins[request]:
                continue
            start = place[request]
            if start < 6:
                told = [(start + each, PREFILL, True) for each in range(3)]
            elif draw.random() < 0.5:
                told = [(start, DECODE, True)]
            else:
                kept = int(draw.integers(1, 4))
                told = [(start + each, VERIFY, each < kept) for each in range(3)]
            rows += [(forward, request, *each) for each in told]
            place[request] += sum(accepted for _, _, accepted in told)
    forward, request, position, phase, accepted = np.array(rows).T
    found = requests.recorded(
        traffic.matched(len(rows), 2, EXPERTS, PICKS, seed=seed),
        EXPERTS,
        forward=forward,
        request=request,
        position=position,
        phase=phase.astype(np.uint8),
        accepted=accepted.astype(np.bool_),
    )
    require_recorded(found)
    return asked(found, learn=0.3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_what_is_known_is_of_earlier_forwards_of_the_same_request(seed: int, phase: Phase) -> None:
    setting = replace(together(seed), phase=phase)
    found, width = setting.trace, setting.width
    steps, often = previous_step(setting), request_frequency(setting)
    for place, token in enumerate(setting.scored.tolist()):
        earlier = np.flatnonzero(
            (found.request == found.request[token]) & (found.forward < found.forward[token])
        )
        last = earlier[found.accepted[earlier]][::-1][:3]
        for layer in range(2):
            wanted = [*dict.fromkeys(found.ids[last, layer].ravel().tolist())]
            assert [each for each in steps[place, layer].tolist() if each >= 0] == wanted[:width]
            counts = np.bincount(found.ids[earlier, layer].ravel(), minlength=EXPERTS)
            named = [each for each in often[place, layer].tolist() if each >= 0]
            assert len(named) == min(width, (counts > 0).sum())
            # The most picked ones, whichever of those that are alike.
            most = sorted(counts[counts > 0], reverse=True)
            assert counts[named].tolist() == most[:width]


def test_the_cache_holds_what_lru_holds() -> None:
    """But for which of a token's own picks goes first, it is the cache that a replay has."""
    setting = asked(several(60, 20))
    found = score(setting, cache_so_far(setting)).wide[2]
    none = np.zeros((3, 16), np.bool_)
    cold = lru_cold(setting.trace.ids, none, (found.names,) * 3)[setting.scored]
    hit = 1 - cold.sum() / setting.trace.ids[setting.scored].size
    assert found.recall == pytest.approx(hit, abs=0.005)
