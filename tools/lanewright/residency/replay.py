"""Drives a policy, the very one that an engine runs, over a trace of picks."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from expert_bank.swaps import Swap, require_sound
from lanewright.residency.fixed import cold_picks
from lanewright.residency.trace import Map, Picks, Trace, counted, require_room, require_trace


class Policy(Protocol):
    """Says what to swap; ``expert_bank.policy`` has the one that serves."""

    def step(
        self, counts: Picks, hot: Sequence[NDArray[np.bool_]], budget_bytes: int
    ) -> list[Swap]:
        """List swaps.

        Args:
            counts: int64[L, E], picks since the last call.
            hot: bool[E] of each layer, which experts are hot now.
            budget_bytes: That the swaps may copy.
        """


@dataclass(frozen=True)
class Replayed:
    """What became of a trace.

    Attributes:
        cold: int64[T, L], cold picks; ``trace.by_window`` adds them up.
        swaps: Those of each barrier, in the order in which they were made.
        bytes: Copied at each barrier.
        cut: Swaps that a barrier's budget left out.
        hot: bool[L, E], the map in the end.
    """

    cold: Picks
    swaps: tuple[tuple[Swap, ...], ...]
    bytes: tuple[int, ...]
    cut: int
    hot: Map


def replay(
    policy: Policy,
    ids: Trace,
    boot: Map,
    *,
    every: int | Sequence[int],
    rows: Sequence[int],
    row_bytes: Sequence[int],
    mirror: bool = True,
    budget_bytes: int = 2**63,
) -> Replayed:
    """Serve a trace, with a barrier before each ``every``-th token but the first.

    Where the barriers are listed, one may be behind the last token.

    As the engine's, a barrier makes swaps until its budget is spent; the one that runs past it is
    the last.

    Args:
        policy: It is asked at each barrier, and keeps what it saw.
        ids: int[T, L, k].
        boot: bool[L, E], the hot experts at the start.
        every: Tokens from one barrier to the next: forwards, times the tokens of one. Or before
            which tokens there is one, in order: 1 to T.
        rows: H of each layer, at least the hot experts of ``boot``.
        row_bytes: Bytes of one expert in each layer.
        mirror: Whether the cold bank has every expert, so that a demotion copies nothing.
        budget_bytes: Of one barrier.

    Raises:
        Refused: The policy swaps what the map contradicts.
        ValueError: It fills more rows than there are; or an argument is not what is said here.
    """
    experts = boot.shape[1]
    require_trace(ids, experts)
    require_room(ids, boot, rows)
    barriers = [*range(every, len(ids), every)] if isinstance(every, int) and every > 0 else every
    if (
        isinstance(barriers, int)
        or not _rising(barriers, len(ids))
        or budget_bytes < 0
        or len(row_bytes) != len(rows)
    ):
        raise ValueError(
            f"barriers every {every} tokens with {budget_bytes} bytes, {len(row_bytes)} row sizes"
        )
    sizes = [(each, 0 if mirror else each) for each in row_bytes]
    hot: Map = boot.copy()
    cold = np.zeros(ids.shape[:2], np.int64)
    made: list[tuple[Swap, ...]] = []
    copied: list[int] = []
    cut = 0
    for start, stop in pairwise([0, *barriers, len(ids)]):
        cold[start:stop] = cold_picks(ids[start:stop], hot)
        if len(made) < len(barriers):
            picked = counted(ids[start:stop], experts)
            asked = policy.step(picked, [*hot.copy()], budget_bytes)
            # What will be cut too: so does the engine.
            require_sound(asked, [*hot])
            swaps, size = _within(asked, sizes, budget_bytes)
            _swap(hot, swaps)
            require_room(ids, hot, rows)
            made.append(swaps)
            copied.append(size)
            cut += len(asked) - len(swaps)
    return Replayed(cold, tuple(made), tuple(copied), cut, hot)


def _rising(barriers: Sequence[int], tokens: int) -> bool:
    return all(one < other for one, other in pairwise([0, *barriers, tokens + 1]))


def _within(
    asked: Sequence[Swap], sizes: Sequence[tuple[int, int]], budget: int
) -> tuple[tuple[Swap, ...], int]:
    """Take swaps until the budget is spent; add up what each promotion and demotion copies."""
    taken: list[Swap] = []
    spent = 0
    for swap in asked:
        if spent >= budget:
            break
        taken.append(swap)
        promoted, demoted = sizes[swap.layer]
        spent += promoted * (swap.promote is not None) + demoted * (swap.demote is not None)
    return tuple(taken), spent


def _swap(hot: Map, swaps: Sequence[Swap]) -> None:
    for swap in swaps:
        if swap.demote is not None:
            hot[swap.layer, swap.demote] = False
        if swap.promote is not None:
            hot[swap.layer, swap.promote] = True
