# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How the map does, in numbers: what was picked from which bank, and what it could have been.

NumPy alone.
"""

import os
import time
from typing import TYPE_CHECKING, Any, Literal

from expert_bank.config import SERVER
from expert_bank.late import NAMES
from expert_bank.policy import Policy
from expert_bank.stats_file import SCHEMA
from expert_bank.writer import started

if TYPE_CHECKING:
    from expert_bank.two_bank import TwoBank

# Forwards from one look to the next where the map does not follow.
STILL = 64

State = Literal["follows", "frozen", "boot map", "ended", "still", "swapped at random"]
Shares = dict[str, float | None]


def snapshot(
    two_bank: "TwoBank", model: str, *, served_as: str = "", engine: int = 0
) -> dict[str, Any]:
    """Read all of it between two forwards, as values that JSON can carry; waits for the device.

    Args:
        two_bank: Whose map it is.
        model: What is served.
        served_as: By which name; empty for the model's own.
        engine: Which of the server's engines this is.

    Returns:
        ``stats_file.SHAPE`` has its fields. Shares are of 1, and null where nothing was picked or
        no map follows; bytes, seconds and counts are since start, but for swaps that wait now.

    Raises:
        Refused: The counts are not exact.
    """
    counter, barrier, following = two_bank.counter, two_bank.barrier, two_bank.following
    policy = None if following is None else following.policy
    followed = two_bank.followed
    hot, picks = two_bank.table.is_hot(), counter.by_bank().sum(axis=2)
    late = late_shares(policy)
    return {
        "schema": SCHEMA,
        "time": time.time(),
        "pid": os.getpid(),
        "started": started(os.getpid()),
        "server": os.environ.get(SERVER, ""),
        "model": model,
        "served_as": served_as or model,
        "engine": engine,
        "state": state(two_bank),
        "every": look_every(two_bank),
        "forwards": barrier.totals.forwards,
        "tokens": counter.tokens,
        "picks_per_token": counter.picks_per_token,
        "cold": {"so_far": _share(picks[:, 1].sum(), picks.sum()), **late},
        "regret": {
            "late": regret(late),
            "served": followed.served_cold,
            "oracle": followed.oracle_cold,
        },
        "swapping": {
            **{
                name: getattr(barrier.totals, name)
                for name in ("barriers", "swaps", "failed", "cut", "bytes", "seconds")
            },
            "waiting": 0 if policy is None else policy.held_back,
        },
        "decisions": followed.decisions,
        "deciding_seconds": followed.seconds,
        "following_drain_seconds": followed.drain_seconds,
        "frozen": policy is not None and policy.frozen,
        "guard": {
            "trusted": None if policy is None else policy.guard.trusted,
            "fallbacks": followed.fallbacks,
            "returns": followed.returns,
        },
        "staging": None if two_bank.staging is None else two_bank.staging.stats(),
        "layers": [
            {
                "name": name,
                "experts": len(hot[layer]),
                "hot_rows": two_bank.table.hot[layer],
                "hot_experts": int(hot[layer].sum()),
                "row_bytes": two_bank.swapper.banks[layer].row_bytes,
                "hot_picks": int(picks[layer, 0]),
                "cold_picks": int(picks[layer, 1]),
                "swaps": barrier.layer_swaps[layer],
                "cold": by_layer,
            }
            for layer, (name, by_layer) in enumerate(
                zip(counter.layers, layer_shares(policy, len(hot)), strict=True)
            )
        ],
    }


def state(two_bank: "TwoBank") -> State:
    """Tell in a word what moves the map."""
    following = two_bank.following
    if two_bank.barrier.source is not following:
        return "swapped at random"
    if following is None:
        return "still"
    if following.ended:
        return "ended"
    if following.policy.frozen:
        return "frozen"
    return "follows" if following.policy.guard.trusted else "boot map"


def look_every(two_bank: "TwoBank") -> int:
    """Forwards from one look to the next: the policy's own, where there is one."""
    following = two_bank.following
    return STILL if following is None else following.policy.pace.every


def late_shares(policy: Policy | None) -> Shares:
    """Tell which share of late picks was cold under the map that served and others; see ``Late``.

    Args:
        policy: Whose, or None.

    Returns:
        ``late`` as served, ``boot``, ``oracle``, ``null``; None where nothing was picked.
    """
    return dict.fromkeys((*NAMES, "null")) if policy is None else policy.late.shares()


def layer_shares(policy: Policy | None, layers: int) -> list[Shares]:
    """Tell the same of each layer, without the null."""
    return [dict.fromkeys(NAMES)] * layers if policy is None else policy.late.by_layer()


def regret(shares: Shares) -> float | None:
    """Share of late picks by which the served map had more cold than the oracle map.

    Below 0 where the oracle map had more: it is made of earlier picks. None for unknown.
    """
    late, oracle = shares["late"], shares["oracle"]
    return None if late is None or oracle is None else late - oracle


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None
