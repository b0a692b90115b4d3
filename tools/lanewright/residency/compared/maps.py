"""Outcomes of maps: those that stand still, and the one that follows traffic."""

from itertools import pairwise

import numpy as np

from expert_bank.pace import Pace
from expert_bank.policy import Policy
from lanewright.residency.compared.forwards import cold_rows, forward_starts
from lanewright.residency.compared.outcome import Outcome, waited
from lanewright.residency.compared.prompts import ByPrompts
from lanewright.residency.compared.setting import Setting
from lanewright.residency.fixed import fixed_cold
from lanewright.residency.replay import Policy as Follows
from lanewright.residency.replay import Replayed, replay
from lanewright.residency.trace import Map, counted


def standing(name: str, setting: Setting, hot: Map) -> Outcome:
    """Serve a trace with a map that stands still; its cold rows are read in place."""
    ids, starts = setting.trace.ids, forward_starts(setting.trace.forward)
    rows = cold_rows(ids, hot, starts)
    return Outcome(
        policy=name,
        cold=fixed_cold(ids, hot),
        demanded=rows,
        ahead=np.zeros_like(rows),
        wasted=0,
        stall=waited(rows, setting.row, setting.links),
    )


def following(setting: Setting, pace: Pace | None = None, *, by_eams: bool = False) -> Outcome:
    """Serve it with the policy that serves in the engine, at the engine's barriers.

    A swap copies the promoted row while the forward behind it waits; the cold bank has every
    expert, so that a demotion copies nothing.

    Args:
        setting: See there.
        pace: The policy's settings.
        by_eams: Whether the map goes by what the requests that run are like.
    """
    trace, pace = setting.trace, pace or Pace()
    starts = forward_starts(trace.forward)
    sizes = [setting.row] * len(setting.rows)
    policy = Policy(
        [*setting.boot],
        rows=setting.rows,
        row_bytes=sizes,
        picks_per_token=trace.picks,
        pace=pace,
    )
    # As the engine counts: before the N-th forward, the 2 N-th and so on.
    looks = [each for each in range(pace.every - 1, len(starts), pace.every) if each]
    barriers = starts[looks].tolist()
    asked: Follows = ByPrompts(policy, setting, barriers) if by_eams else policy
    done = replay(
        asked, trace.ids, setting.boot, every=barriers, rows=setting.rows, row_bytes=sizes
    )
    demanded = np.zeros(len(starts), np.int64)
    ahead, wasted = np.zeros(len(starts), np.int64), 0
    hot, fresh = setting.boot.copy(), np.zeros_like(setting.boot)
    edges = [0, *looks, len(starts)]
    for number, (first, behind) in enumerate(pairwise(edges)):
        if number:
            ahead[first] = _promoted(done, number - 1)
            wasted += _swap(done, number - 1, hot, fresh)
        start = int(starts[first]) if len(starts) else 0
        stop = int(starts[behind]) if behind < len(starts) else trace.tokens
        ids = trace.ids[start:stop]
        demanded[first:behind] = cold_rows(ids, hot, starts[first:behind] - start)
        fresh &= counted(ids, trace.experts) == 0
    return Outcome(
        policy="following-eams" if by_eams else "following",
        cold=done.cold,
        demanded=demanded,
        ahead=ahead,
        wasted=wasted + int(fresh.sum()),
        stall=waited(demanded + ahead, setting.row, setting.links),
        swaps=sum(len(swaps) for swaps in done.swaps),
    )


def _promoted(done: Replayed, barrier: int) -> int:
    return sum(swap.promote is not None for swap in done.swaps[barrier])


def _swap(done: Replayed, barrier: int, hot: Map, fresh: Map) -> int:
    """Make a barrier's swaps; how many rows go that nothing picked since they came."""
    unused = 0
    for swap in done.swaps[barrier]:
        if swap.demote is not None:
            unused += int(fresh[swap.layer, swap.demote])
            hot[swap.layer, swap.demote] = fresh[swap.layer, swap.demote] = False
        if swap.promote is not None:
            hot[swap.layer, swap.promote] = fresh[swap.layer, swap.promote] = True
    return unused
