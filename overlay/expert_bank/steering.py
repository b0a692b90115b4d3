# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What may be asked of the map while the engine runs: follow, freeze, be this one.

None of it enters a hash, changes a shape or a graph; all of it ends with the process.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from expert_bank.budgets import paced, require_room
from expert_bank.choosing import towards
from expert_bank.following import Following
from expert_bank.forced import Forced
from expert_bank.pace import Pace
from expert_bank.policy import Policy
from expert_bank.refused import Refused, shortened
from expert_bank.swap_bytes import rows_per_swap
from expert_bank.swaps import Swap
from expert_bank.two_bank import TwoBank


def follow(two_bank: TwoBank, wanted: object) -> None:
    """Let the map follow traffic from here on, at another pace, or no more.

    What was seen of traffic so far is kept where only the pace changes. The barrier's
    budgets become as ``paced`` has them.

    Args:
        two_bank: Whose map it is.
        wanted: A ``Pace``; text as ``moe_follow`` has it; settings to change; None or empty text to
            leave the map as it is from here on.

    Raises:
        Refused: They are no such settings, or a budget takes no swap; nothing was changed.
    """
    following, barrier = two_bank.following, two_bank.barrier
    before = following.policy.pace if following else Pace()
    pace = _pace(wanted, before)
    named = wanted if isinstance(wanted, Mapping) else None
    limits = paced(barrier.limits, before, pace, named=named)
    if pace is None:
        two_bank.earlier, two_bank.following = two_bank.followed, None
    else:
        require_room(two_bank, *limits)
        if following is None:
            two_bank.following = _following(two_bank, pace)
        else:
            if barrier.source is not following:
                following.skip()
            following.policy.pace = pace
    barrier.limit(*limits)
    barrier.source = two_bank.following


def freeze(two_bank: TwoBank, *, frozen: object) -> None:
    """Keep the map as it is while it goes on to be scored, or let it follow again.

    Raises:
        Refused: It does not follow, or what is asked is neither true nor false.
    """
    if not isinstance(frozen, bool):
        raise Refused(f"frozen is {shortened(frozen)}, and must be true or false")
    if two_bank.following is None:
        raise Refused("the map does not follow traffic", hint="expert_bank_follow begins it")
    two_bank.following.policy.frozen = frozen


def hot_experts(two_bank: TwoBank) -> list[list[int]]:
    """List the hot experts of each layer by id."""
    return [np.flatnonzero(state).tolist() for state in two_bank.table.is_hot()]


def set_map(two_bank: TwoBank, wanted: object) -> None:
    """Make these the hot experts at once, past all budgets; a map that follows goes on from there.

    It is trusted anew, also where these are the hot experts already.

    Args:
        two_bank: Whose map it is.
        wanted: Ids of the hot experts, one list a layer; as many as it has hot rows, or fewer where
            the cold bank has every expert.

    Raises:
        Refused: It is no such list; nothing was moved. Or the barrier is closed.
    """
    table = two_bank.table
    now, experts = table.is_hot(), table.host.shape[2]
    target = _read_map(wanted, table.hot, experts)
    exact = [not bank.mirrors for bank in two_bank.swapper.banks]
    for layer, (state, rows) in enumerate(zip(target, table.hot, strict=True)):
        if exact[layer] and state.sum() != rows:
            raise Refused(f"layer {layer} has {rows} hot rows, and {state.sum()} experts for them")
    flat = np.zeros(experts)
    swaps: list[Swap] = []
    for layer, state in enumerate(now):
        swaps += [swap for _, swap in towards(layer, flat, state, target[layer])]
    with changing(two_bank, swaps):
        if swaps:
            two_bank.barrier.swap(swaps, bounded=False)
    if two_bank.following is not None:
        two_bank.following.policy.begin_from(table.is_hot())


@contextmanager
def changing(two_bank: TwoBank, swaps: Sequence[Swap]) -> Iterator[None]:
    """Have a policy take in what was picked under the map that the block changes by swaps.

    Raises:
        Refused: They may not be made; the policy took in nothing.
    """
    two_bank.barrier.require(swaps)
    _take_in(two_bank)
    yield


def force(two_bank: TwoBank, forced: Forced | None) -> None:
    """Swap at random from here on, or no more; a map that follows waits meanwhile."""
    _take_in(two_bank)
    two_bank.barrier.source = forced or two_bank.following


def _take_in(two_bank: TwoBank) -> None:
    """Have a policy take in what was picked; what was while others moved the map, leave out."""
    following = two_bank.following
    if following is None:
        return
    if two_bank.barrier.source is following:
        following.see(two_bank.table.is_hot())
    else:
        following.skip()


def _pace(wanted: object, now: Pace) -> Pace | None:
    match wanted:
        case None | Pace():
            return wanted
        case str():
            return Pace.read(wanted)
        case Mapping():
            return now.changed(wanted)
    raise Refused(f"moe_follow is {shortened(wanted)}, and must be text, settings by name, or null")


def _following(two_bank: TwoBank, pace: Pace) -> Following:
    banks = two_bank.swapper.banks
    policy = Policy(
        two_bank.boot,
        rows=two_bank.table.hot,
        row_bytes=[bank.row_bytes for bank in banks],
        picks_per_token=two_bank.counter.picks_per_token,
        rows_per_swap=rows_per_swap(banks[0].cold_rows),
        pace=pace,
    )
    barrier = two_bank.barrier
    return Following(
        policy,
        two_bank.counter,
        lambda: barrier.byte_budget,
        drain=barrier.drain,
        earlier=two_bank.earlier,
        eams=two_bank.eams,
    )


def _read_map(wanted: object, rows: Sequence[int], experts: int) -> list[NDArray[np.bool_]]:
    if not isinstance(wanted, list | tuple) or len(wanted) != len(rows):
        raise Refused(f"a map is a list of {len(rows)} lists of expert ids")
    return [
        _read_layer(layer, ids, most, experts)
        for layer, (ids, most) in enumerate(zip(wanted, rows, strict=True))
    ]


def _read_layer(layer: int, ids: object, rows: int, experts: int) -> NDArray[np.bool_]:
    if not isinstance(ids, list | tuple) or any(type(each) is not int for each in ids):
        raise Refused(
            f"layer {layer}: its hot experts are a list of ids, and this is {shortened(ids)}"
        )
    if any(not 0 <= each < experts for each in ids) or len(set(ids)) != len(ids):
        raise Refused(f"layer {layer}: ids are 0 to {experts - 1}, each once: {shortened(ids)}")
    if len(ids) > rows:
        raise Refused(f"layer {layer} has {rows} hot rows, and {len(ids)} experts for them")
    state = np.zeros(experts, np.bool_)
    state[list(ids)] = True
    return state
