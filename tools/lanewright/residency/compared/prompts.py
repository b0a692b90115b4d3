"""Tells a policy, barrier by barrier, what the requests that run are like, as an engine tells it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from expert_bank.eams.running import RunningEams
from expert_bank.policy import Policy
from expert_bank.swaps import Swap
from lanewright.residency.compared.setting import Setting
from lanewright.residency.trace import Picks
from lanewright.residency.trace_file.recorded import PREFILL, Recorded


class ByPrompts:
    """The policy that serves in the engine, with ``moe_follow_eams``.

    A request ends with its last token: the engine knows it at the next step, or, where its
    scheduler runs a step ahead, at the one behind that.

    Attributes:
        policy: Decides.
        eams: As the engine has them.
    """

    def __init__(self, policy: Policy, setting: Setting, barriers: Sequence[int]) -> None:
        """Begin with the requests that ended in front of the trace.

        Args:
            policy: That is told.
            setting: The trace, and what was in front of it.
            barriers: Before which tokens it is asked, in order.
        """
        self.policy = policy
        layers, experts = setting.boot.shape
        self.eams = RunningEams(
            layers, experts, setting.infinity.capacity, setting.infinity.nearest
        )
        if setting.past is not None:
            past = setting.past
            _take_in(self.eams, past, _lasts(past), slice(0, past.tokens))
        self._trace, self._lasts = setting.trace, _lasts(setting.trace)
        self._spans = pairwise([0, *barriers])

    def step(
        self, counts: Picks, hot: Sequence[NDArray[np.bool_]], budget_bytes: int
    ) -> list[Swap]:
        """List swaps; as ``replay.Policy``."""
        _take_in(self.eams, self._trace, self._lasts, slice(*next(self._spans)))
        return self.policy.step(counts, hot, budget_bytes, self.eams.wanted())


def _lasts(trace: Recorded) -> NDArray[np.bool_]:
    """Tell of each token whether its request has none behind it, bool[T]."""
    lasts = np.zeros(trace.tokens, np.bool_)
    _, backwards = np.unique(trace.request[::-1], return_index=True)
    lasts[trace.tokens - 1 - backwards] = True
    return lasts


def _take_in(eams: RunningEams, trace: Recorded, lasts: NDArray[np.bool_], span: slice) -> None:
    """Take in what forwards routed of prompts, and which requests ended with each."""
    for start, stop in _runs(trace.forward, span.start, span.stop):
        if (trace.phase[start:stop] == PREFILL).any():
            for first, behind in _runs(trace.request, start, stop):
                if trace.phase[first] == PREFILL:
                    number, place = int(trace.request[first]), int(trace.position[first])
                    eams.see(number, place, trace.ids[first:behind])
        for number in sorted(trace.request[start:stop][lasts[start:stop]].tolist()):
            eams.end(number)


def _runs(column: NDArray[np.int64], start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield where each run of equal values begins, and the place behind it."""
    edges = start + 1 + np.flatnonzero(np.diff(column[start:stop]))
    return pairwise([start, *edges.tolist(), stop])
