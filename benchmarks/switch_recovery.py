"""How soon a map was right again after traffic had switched, held against what the planner bounds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.price_estimate import plan_of
from benchmarks.switch_outcome import DEFAULT, PACE, PHASES, Outcome, Served
from expert_bank.recovery import needed_swaps, recovery
from lanewright.residency.trace import Map, by_window

# Tokens over which the map is held against the oracle map.
WINDOW = 1024
# Of the oracle map's cold picks.
MOST = 1.3


@dataclass(frozen=True)
class Recovered:
    """What became of a switch at one pace.

    Attributes:
        name: Of the phase.
        every: The pace's, in forwards.
        tokens: Until the map was right again, in whole windows; None where it was not in the phase.
        served: Tokens of the phase.
        swaps: From the map that met the switch to the phase's oracle map.
        bound: Tokens that the planner gives it at most; None where it has no bound.
        each: Tokens of a forward.
    """

    name: str
    every: int
    tokens: int | None
    served: int
    swaps: int
    bound: int | None
    each: int

    def told(self) -> str:
        """Write it for people."""
        bound = "no bound" if self.bound is None else f"at most {self.bound:,} tokens"
        after = "not in it" if self.tokens is None else f"after {self.tokens:,} tokens"
        short = self.tokens is None and self.bound is not None and self.bound >= self.served
        return (
            f"{self.name}, every {self.every}: within {MOST} times the oracle map for {WINDOW:,} tokens and"
            f" for the rest of the phase, {after} of {self.served:,}; by the planner {self.swaps} swaps to"
            f" the oracle map, {bound} at {self.each} a forward"
            + (", for which the phase is too short: more --tokens may tell" if short else "")
        )

    @property
    def late(self) -> bool:
        """Whether it contradicts the planner, or did not come in the phase, however short that is.

        Windows are whole: the map may have been right within the one before. So it is late where
        even that one began where the bound ends, or later.
        """
        if self.tokens is None:
            return True
        return self.bound is not None and self.tokens - WINDOW >= self.bound


def recoveries(served: Served, found: Outcome) -> list[Recovered]:
    """Look at each switch, at the engine's pace and at the default one."""
    plan, each = plan_of(served.facts), tokens_per_forward(served)
    made = []
    for phase, name in enumerate(PHASES[1:], 1):
        start, stop = served.spans[phase]
        for pace, kind in ((PACE, "moving"), (DEFAULT, "default")):
            before = map_before(served, found, kind, start)
            swaps = needed_swaps([*before], [*served.best(phase)])
            known = recovery(plan, pace, tokens_per_forward=each, swaps=swaps)
            tokens = recovered(served, found, kind, phase)
            made.append(
                Recovered(name, pace.every, tokens, stop - start, sum(swaps), known.tokens, each)
            )
    return made


def recovered(served: Served, found: Outcome, kind: str, phase: int) -> int | None:
    """Tokens of a phase before its first window from which on cold picks are near the oracle map's.

    They are near in that window, and in all that is left of the phase together; not in each window
    of it, for single ones are noisy.

    None where there is no such window; a last one that is not whole is none.
    """
    start, stop = served.spans[phase]
    whole = start + (stop - start) // WINDOW * WINDOW
    near = _near(found, kind, slice(start, whole))
    stays = _near(found, kind, slice(start, stop), left=True)[: len(near)]
    both = np.flatnonzero(near & stays)
    return int(both[0]) * WINDOW if len(both) else None


def _near(found: Outcome, kind: str, span: slice, *, left: bool = False) -> NDArray[np.bool_]:
    """Tell of each window, or of all that is left from it on, whether cold picks are near."""
    ours, best = (
        by_window(found.cold[each][span], WINDOW).sum(axis=1) for each in (kind, "oracle")
    )
    if left:
        ours, best = (each[::-1].cumsum()[::-1] for each in (ours, best))
    near: NDArray[np.bool_] = ours <= MOST * best
    return near


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
