"""The EAMs of requests that run: prefill and decode apart, begun anew with each request."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from expert_bank.eams.collection import Collection
from expert_bank.eams.prediction import Shares, normalised, predicted
from lanewright.residency.trace import Picks, counted
from lanewright.residency.trace_file.recorded import PREFILL, Recorded


@dataclass
class Part:
    """One request's EAM of one phase.

    Attributes:
        eam: int64[L, E].
        forwards: Whole ones that are in it. Before the first there is no trace to match.
    """

    eam: Picks
    forwards: int = 0


@dataclass
class Running:
    """Requests between their first forward and their last.

    Attributes:
        past: The collection of prefill, and that of decode; verify is decode, too.
        nearest: How many EAMs a prediction sums.
        parts: By request and place in ``past``.
    """

    past: tuple[Collection, Collection]
    nearest: int = 1
    parts: dict[tuple[int, int], Part] = field(default_factory=dict)

    def begin(self, request: int, phase: int) -> tuple[int, int]:
        """Give the key of a request's part, which begins empty."""
        key = (request, int(phase != PREFILL))
        if key not in self.parts:
            self.parts[key] = Part(np.zeros(self.past[0].eams.shape[1:], np.int64))
        return key

    def see(self, key: tuple[int, int], layer: int, ids: NDArray[np.integer]) -> None:
        """Count the picks of a layer."""
        eam = self.parts[key].eam
        eam[layer] += np.bincount(ids.ravel(), minlength=eam.shape[1])

    def predicted(self, keys: Sequence[tuple[int, int]]) -> Shares | None:
        """Predict for requests that share a forward: the sum of what each is predicted."""
        found = [
            predicted(self.past[key[1]], part.eam, self.nearest)
            for key, part in ((key, self.parts[key]) for key in keys)
            if part.forwards
        ]
        known = [shares for shares in found if shares is not None]
        if len(known) <= 1:
            return known[0] if known else None
        return normalised(np.sum(known, axis=0))

    def went(self, keys: Sequence[tuple[int, int]]) -> None:
        """Note that a forward has ended."""
        for key in keys:
            self.parts[key].forwards += 1

    def learn(self, found: Recorded) -> None:
        """Keep what the requests of an earlier trace picked, in the order in which they ended."""
        last = {request: token for token, request in enumerate(found.request.tolist())}
        for request in sorted(last, key=last.__getitem__):
            mine = found.request == request
            for past, prefill in zip(self.past, (True, False), strict=True):
                ids = found.ids[mine & ((found.phase == PREFILL) == prefill)]
                past.add(counted(ids, found.experts))

    def end(self, request: int) -> None:
        """Keep what a request picked, and forget it."""
        for phase, past in enumerate(self.past):
            if part := self.parts.pop((request, phase), None):
                past.add(part.eam)
