"""Serves a trace with MoE-Infinity's buffer, layer by layer, over one link."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from expert_bank.eams.collection import Collection, Replaced
from expert_bank.eams.prediction import Shares
from lanewright.residency.infinity.buffer import Buffer
from lanewright.residency.infinity.prediction import keep_score
from lanewright.residency.infinity.prefetching import Prefetching
from lanewright.residency.infinity.request import Running
from lanewright.residency.infinity.settings import Settings
from lanewright.residency.link.queue import Link
from lanewright.residency.trace import Map, Picks
from lanewright.residency.trace_file.recorded import Recorded


@dataclass(frozen=True, eq=False)
class Served:
    """What became of a trace.

    Attributes:
        cold: int64[T, L], picks of experts that had no row as their layer began.
        demanded: int64[F], rows of each forward that were fetched on demand.
        prefetched: int64[F], rows that were sent ahead in it.
        wasted: Rows that were prefetched, and evicted or left in the end without a pick.
        stall: float64[F], seconds in which each forward waited for rows.
        prefetches: Whether the buffer holds a step, so that anything is prefetched.
    """

    cold: Picks
    demanded: Picks
    prefetched: Picks
    wasted: int
    stall: NDArray[np.float64]
    prefetches: bool


def serve(
    found: Recorded,
    *,
    rows: int,
    row: int,
    rate: float,
    step_seconds: float,
    settings: Settings | None = None,
    boot: Map | None = None,
    past: Recorded | None = None,
) -> Served:
    """Serve a trace.

    Args:
        found: The trace.
        rows: Of the buffer, which all layers share.
        row: Bytes of one expert.
        rate: Of the link, bytes a second.
        step_seconds: That a forward computes; each layer an equal part of it.
        settings: Of MoE-Infinity; by default the paper's.
        boot: bool[L, E], what is in the buffer at the start, from the first layer on as far as
            there are rows; None for nothing.
        past: Requests that the collections have at the start; None for none.

    Raises:
        ValueError: A number is below what it can be.
    """
    if rows < 0 or row < 1 or rate <= 0 or step_seconds < 0:
        raise ValueError(f"{rows} rows of {row} bytes at {rate} bytes/s, {step_seconds} s a step")
    serving = _Serving(found, rows, row, Link(rate), step_seconds, settings or Settings())
    if boot is not None:
        serving.buffer.put(np.flatnonzero(boot)[:rows], 0.0)
    if past is not None:
        serving.running.learn(past)
    return serving.run()


@dataclass
class _Serving:
    found: Recorded
    rows: int
    row: int
    link: Link
    step_seconds: float
    settings: Settings
    now: float = 0.0
    stalled: float = 0.0
    demanded: int = 0
    routed: float = 0.0
    visits: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        layers, experts = len(self.found.layers), self.found.experts
        replaced: Replaced = "nearest" if self.settings.variant == "paper" else "least accessed"
        past = (
            Collection(layers, experts, self.settings.capacity, replaced),
            Collection(layers, experts, self.settings.capacity, replaced),
        )
        self.running = Running(past, self.settings.nearest)
        self.buffer = Buffer(layers * experts, self.rows)
        self.prefetching = Prefetching(self.buffer, self.link, self.row, self.settings.ahead)
        self.visits = np.zeros(layers * experts)
        self.worth = self._worth(None)
        self.cold = np.zeros(self.found.ids.shape[:2], np.int64)
        step = self.settings.step_rows
        self.prefetches = self.rows >= (self.found.picks * layers if step is None else step)

        self.predicts = self.prefetches or self.settings.variant == "paper"

    def run(self) -> Served:
        found = self.found
        starts = np.flatnonzero(np.diff(found.forward, prepend=-1))
        stops = [*starts[1:].tolist(), found.tokens]
        last = {request: token for token, request in enumerate(found.request.tolist())}
        told = []
        for start, stop in zip(starts.tolist(), stops, strict=True):
            before = (self.stalled, self.demanded, self.prefetching.sent)
            self._forward(start, stop)
            after = (self.stalled, self.demanded, self.prefetching.sent)
            told.append([now - then for now, then in zip(after, before, strict=True)])
            for token in range(start, stop):
                if last[request := int(found.request[token])] == token:
                    self.running.end(request)
        table = np.array(told, np.float64).reshape(-1, 3)
        stall, demanded, sent = table.T
        return Served(
            cold=self.cold,
            demanded=demanded.astype(np.int64),
            prefetched=sent.astype(np.int64),
            wasted=self.buffer.wasted + int(self.buffer.unused.sum()),
            stall=stall,
            prefetches=self.prefetches,
        )

    def _forward(self, start: int, stop: int) -> None:
        found = self.found
        members: dict[tuple[int, int], list[int]] = {}
        for token in range(start, stop):
            key = self.running.begin(int(found.request[token]), int(found.phase[token]))
            members.setdefault(key, []).append(token)
        keys = [*members]
        for layer in range(len(found.layers)):
            for key, tokens in members.items():
                self.running.see(key, layer, found.ids[tokens, layer])
            self._layer(layer, start, stop)
            shares = self.running.predicted(keys) if self.predicts else None
            self.worth = self._worth(shares)
            if self.prefetches:
                self.prefetching.ask(shares, layer, self.routed)
            self.now += self.step_seconds / len(found.layers)
        self.running.went(keys)

    def _layer(self, layer: int, start: int, stop: int) -> None:
        """Fetch what is missing, and wait until all that the layer picked is there."""
        buffer = self.buffer
        self.prefetching.go_on(self.now, self.worth)
        # Until here the layer before was computing.
        buffer.in_use[:] = False
        cells = self.found.ids[start:stop, layer].astype(np.int64) + layer * self.found.experts
        picked = np.unique(cells)
        self.cold[start:stop, layer] = (~buffer.held[cells]).sum(axis=1)
        missing = picked[~buffer.held[picked]]
        experts = self.found.experts
        buffer.use(picked, slice(layer * experts, (layer + 1) * experts))
        kept = buffer.make_room(len(missing), self.worth, self.now)
        arrived = np.array([self.link.send(self.now, self.row) for _ in missing])
        # What finds no row is read through the link, and is gone.
        buffer.put(missing[:kept], arrived[:kept])
        there = buffer.arrives[picked[buffer.held[picked]]]
        ready = max(self.now, there.max(initial=0.0), arrived.max(initial=0.0))
        self.demanded += len(missing)
        self.visits[picked] += 1
        self.stalled += ready - self.now
        self.routed, self.now = self.now, ready

    def _worth(self, shares: Shares | None) -> Shares:
        if self.settings.variant == "code":
            return self.visits
        worth: Shares = keep_score(shares, len(self.found.layers), self.found.experts).ravel()
        return worth
