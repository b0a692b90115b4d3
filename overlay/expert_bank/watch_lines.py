# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What is told of a map, in lines for a log."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from expert_bank import sizes
from expert_bank.stats import Shares, State, regret

if TYPE_CHECKING:
    from expert_bank.two_bank import TwoBank


def begins(two_bank: "TwoBank", state: State, file: Path | None) -> str:
    """Tell at boot how many experts are hot, and whether that is to change."""
    rows, experts = two_bank.table.hot, two_bank.table.host.shape[2]
    hot = f"{min(rows)}" if len({*rows}) == 1 else f"{min(rows)} to {max(rows)}"
    where = f"; stats in {file}" if file else ""
    return f"{hot} of {experts} experts hot in {len(rows)} layers; {_told(two_bank, state)}{where}"


def turned(two_bank: "TwoBank", state: State) -> str:
    """Tell what moves the map from here on."""
    return f"before forward {two_bank.barrier.totals.forwards}: {_told(two_bank, state)}"


def goes_on(
    state: State, shares: Shares, before: Mapping[str, float], now: Mapping[str, float]
) -> str:
    """Tell how the map does, and what was done for it since the line before.

    Args:
        state: What moves it.
        shares: Of late picks; see ``stats.late_shares``.
        before: The barrier's totals at that line, with ``deciding`` (seconds) and ``time``.
        now: The same at this one.
    """
    since = {name: now[name] - before[name] for name in now}
    spent = since["seconds"] + since["deciding"]
    return (
        f"forward {now['forwards']:.0f}, {state}: {_percent(shares['late'])} of late picks cold"
        f" (boot map {_percent(shares['boot'])}, oracle {_percent(shares['oracle'])}, regret"
        f" {_percent(regret(shares))}); {since['swaps']:.0f} swaps, {since['failed']:.0f} failed,"
        f" {sizes.told(int(since['bytes']))}, {spent / max(since['time'], 1e-9):.2%} of the time"
        " deciding and swapping"
    )


def _told(two_bank: "TwoBank", state: State) -> str:
    following = two_bank.following
    if following is None or state == "swapped at random":
        return "rows are swapped at random" if state != "still" else "the map stands still"
    policy, pace = following.policy, following.policy.pace
    match state:
        case "ended":
            return f"the map follows no more: {following.ended}"
        case "frozen":
            return "the map that follows traffic is frozen"
        case "boot map":
            fallbacks = policy.guard.fallbacks
            return (
                f"the moving map did not beat the boot map, which comes back ({fallbacks} so far)"
            )
    again = f" again ({policy.guard.returns} so far)" if policy.guard.returns else ""
    return (
        f"the map follows traffic{again}, every {pace.every} forwards, at most {pace.swaps} swaps a"
        " layer"
    )


def _percent(share: float | None) -> str:
    return "?" if share is None else f"{share:.1%}"
