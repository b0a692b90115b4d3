# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What a switch of traffic costs, in words."""

from expert_bank.pace import Pace
from expert_bank.plan import Plan
from expert_bank.recovery import Recovery, recovery
from expert_bank.sizes import told


def recovery_line(
    plan: Plan,
    pace: Pace,
    *,
    tokens_per_forward: int = 1,
    sequences: int = 1,
    step: float | None = None,
    link: float | None = None,
) -> str:
    """Tell what ``recovery`` bounds; or why there is no bound, and what to change.

    Args:
        plan: Of the two banks.
        pace: How the map follows.
        tokens_per_forward: As there.
        sequences: The most at once, where that is to be told, too: each gets a token a forward.
        step: Seconds of a forward, where known.
        link: GB/s (1e9 bytes) at which rows are copied, where known.
    """
    found = recovery(plan, pace, tokens_per_forward=tokens_per_forward)
    if not any(found.swaps):
        return (
            "after a switch of traffic: no layer has both hot and cold experts, nothing is swapped"
        )
    start = (
        f"after a switch of traffic at most {max(found.swaps)} swaps a layer are needed,"
        f" {sum(found.swaps)} in all ({told(found.bytes)})"
    )
    if found.made is None:
        return f"{start}; never made: a swap copies more than bytes={pace.bytes} of a barrier"
    if found.seen is None:
        return (
            f"{start}; an expert with an even share of the picks may never be told from chance at"
            f" half_life={pace.half_life}: raise it, or lower noise={pace.noise}"
        )
    parts = [_tokens(found, f"{tokens_per_forward} a forward")]
    if sequences > tokens_per_forward:
        most = recovery(plan, pace, tokens_per_forward=sequences)
        parts.append(_tokens(most, f"{sequences} a forward (max_num_seqs, one a sequence)"))
    return f"{start}: {'; '.join([*parts, *_seconds(found, step, link)])}"


def _tokens(found: Recovery, pace: str) -> str:
    if found.tokens is None or found.seen is None:
        return f"at {pace} it may never be told from chance"
    seen = found.seen * found.tokens_per_barrier
    return f"{found.tokens} tokens at {pace}, {seen} of them to tell it from chance"


def _seconds(found: Recovery, step: float | None, link: float | None) -> list[str]:
    parts = []
    if step is not None:
        parts.append(f"{found.seconds(step, link):.3g} s at {step * 1e3:.3g} ms a forward")
    if link is not None:
        parts.append(f"{found.copy_seconds(link):.3g} s of copies at {link:.3g} GB/s")
    return parts
