"""How soon a map was right again after traffic had switched, beside what the planner bounds."""

import numpy as np

from benchmarks.price_estimate import plan_of
from benchmarks.switch_outcome import DEFAULT, PACE, PHASES, Outcome, Served
from expert_bank.recovery import needed_swaps, recovery
from lanewright.residency.trace import Map, by_window

# Tokens over which the map is held against the oracle map.
WINDOW = 1024
# Of the oracle map's cold picks.
MOST = 1.3


def told(served: Served, found: Outcome) -> list[str]:
    """Write a line for each switch and pace."""
    plan, each = plan_of(served.facts), tokens_per_forward(served)
    lines = []
    for phase, name in enumerate(PHASES[1:], 1):
        start, stop = served.spans[phase]
        for pace, kind in ((PACE, "moving"), (DEFAULT, "default")):
            before = map_before(served, found, kind, start)
            swaps = needed_swaps([*before], [*served.best(phase)])
            known = recovery(plan, pace, tokens_per_forward=each, swaps=swaps)
            bound = "no bound" if known.tokens is None else f"at most {known.tokens:,} tokens"
            tokens = recovered(served, found, kind, phase)
            after = "not in it" if tokens is None else f"after {tokens:,} tokens"
            lines.append(
                f"  {name}, every {pace.every}: within {MOST} times the oracle map for {WINDOW:,}"
                f" tokens, {after} of {stop - start:,}; by the planner {sum(swaps)} swaps to the"
                f" oracle map, {bound} at {each} a forward"
            )
    return lines


def recovered(served: Served, found: Outcome, kind: str, phase: int) -> int | None:
    """Tokens of a phase before its first window with cold picks near enough to the oracle map's.

    None where there is no such window; a last one that is not whole does not count.
    """
    start, stop = served.spans[phase]
    whole = start + (stop - start) // WINDOW * WINDOW
    ours, best = (
        by_window(found.cold[each][start:whole], WINDOW).sum(axis=1) for each in (kind, "oracle")
    )
    near = np.flatnonzero(ours <= MOST * best)
    return int(near[0]) * WINDOW if len(near) else None


def map_before(served: Served, found: Outcome, kind: str, token: int) -> Map:
    """Give the map that moved with a pace, as it was before a token."""
    hot = served.boot.copy()
    for at, layer, promoted, demoted in found.swaps[kind]:
        if at <= token:
            # A demotion comes first: what is promoted takes its row.
            for expert, state in ((demoted, False), (promoted, True)):
                if expert is not None:
                    hot[layer, expert] = state
    return hot


def tokens_per_forward(served: Served) -> int:
    """Tell how many tokens a forward had, on average."""
    first, *_, last = served.facts["barriers"]
    forwards: int = last["forward"] - first["forward"]
    tokens: int = last["token"] - first["token"]
    return max(1, round(tokens / forwards))
