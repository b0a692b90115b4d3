"""Banks as a watch reads them, without torch: a real policy, swaps that only change the map."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from expert_bank.following import Followed, Following
from expert_bank.pace import Pace
from expert_bank.plan import Plan
from expert_bank.policy import Policy
from expert_bank.watch import Watch

K = 2
ROW = 2**20


@dataclass
class Totals:
    forwards: int = 0
    barriers: int = 0
    swaps: int = 0
    failed: int = 0
    cut: int = 0
    bytes: int = 0
    seconds: float = 0.0


@dataclass
class Banks:
    """L layers of E experts, of which the first H are hot at boot.

    Attributes:
        told, warned: Lines of the watch that ``watched`` begins.
        now: What that watch takes for the time; nothing but a test moves it.
        byte_budget: Of one barrier.
    """

    layers: int = 2
    experts: int = 4
    hot: int = 2
    names: Sequence[str] = ()
    told: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    now: float = 100.0
    byte_budget: int = 2**62

    def __post_init__(self) -> None:
        self.map = np.zeros((self.layers, self.experts), np.bool_)
        self.map[:, : self.hot] = True
        self.picks = np.zeros((self.layers, 2, self.experts), np.int64)
        self.table = SimpleNamespace(
            hot=(self.hot,) * self.layers,
            host=np.zeros((self.layers, 4, self.experts)),
            is_hot=lambda: [row.copy() for row in self.map],
        )
        self.counter = SimpleNamespace(
            layers=tuple(self.names) or tuple(f"layers.{each}" for each in range(self.layers)),
            picks_per_token=K,
            tokens=0,
            by_bank=self.picks.copy,
            snapshot=lambda: self.picks.sum(axis=1),
        )
        self.barrier = SimpleNamespace(
            totals=Totals(), layer_swaps=[0] * self.layers, source=None, limits=(None, None)
        )
        self.swapper = SimpleNamespace(banks=[SimpleNamespace(row_bytes=ROW)] * self.layers)
        self.following: Any = None
        self.earlier = Followed()
        self.staging: Any = None
        self.watch: Watch | None = None
        self.plan: Plan | None = None

    def follow(self, **pace: Any) -> None:  # noqa: ANN401 - of a Pace
        policy = Policy(
            [*self.map.copy()],
            rows=self.table.hot,
            row_bytes=[ROW] * self.layers,
            picks_per_token=K,
            pace=Pace(**{"every": 1, **pace}),
        )
        self.following = Following(
            policy,
            self.counter,  # type: ignore[arg-type]
            lambda: self.byte_budget,
            drain=lambda: None,
            earlier=self.earlier,
        )
        self.barrier.source = self.following

    @property
    def followed(self) -> Followed:
        return self.earlier if self.following is None else self.following.done

    def watched(self, file: Path | None = None) -> Watch:
        self.watch = Watch(
            self,  # type: ignore[arg-type]
            "/models/m",
            file=file,
            tell=self.told.append,
            warn=self.warned.append,
            clock=lambda: self.now,
        )
        return self.watch

    def serve(self, counts: Sequence[int] | NDArray[np.int64], times: int = 1) -> None:
        """Serve picks of each expert, the same in every layer, one forward a time."""
        for _ in range(times):
            self._before_forward()
            whole = np.broadcast_to(np.array(counts), self.map.shape)
            self.picks[:, 0] += whole * self.map
            self.picks[:, 1] += whole * ~self.map
            self.counter.tokens += int(whole[0].sum()) // K

    def _before_forward(self) -> None:
        totals = self.barrier.totals
        totals.forwards += 1
        if self.following is not None:
            spent = self.following.seconds
            swaps = self.following.at(totals.forwards, list(self.map))
            if self.following.seconds > spent:
                self.following.seconds = spent + 0.001
            for swap in swaps:
                self.map[swap.layer, swap.promote] = True
                self.map[swap.layer, swap.demote] = False
                self.barrier.layer_swaps[swap.layer] += 1
            totals.swaps += len(swaps)
            totals.bytes += len(swaps) * ROW
            totals.barriers += bool(swaps)
        if self.watch is not None:
            self.watch.forward()
