# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What to swap at a barrier so that the hot experts are those that traffic picks.

NumPy alone, and no clock: an engine and a replay of its picks come to the same swaps.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from expert_bank.choosing import better, towards
from expert_bank.guard import Guard
from expert_bank.ledger import Ledger
from expert_bank.pace import Pace
from expert_bank.swaps import Swap

Map: TypeAlias = NDArray[np.bool_]  # bool[L, E]
Maps: TypeAlias = Map | Sequence[Map]


class Policy:
    """Follows traffic with a map of its own, and has the engine's follow that while it pays.

    A score is an expert's picks, halved every ``half_life`` tokens. While the guard trusts the
    moving map, it is the engine's. Else the engine's goes back to the boot map, and the moving map
    goes on as a shadow, with the swaps it would have made, until it has won again.

    Attributes:
        pace: The settings; may be replaced at any time.
        frozen: Whether the map is to stay as it is; scores go on.
        guard: Whether the moving map is trusted.
        scores: float64[L, E].
        shadow: bool[L, E], the moving map.
        held_back: Swaps that the last step left for later: worth it, and over the byte budget.
        regret_picks: Picks that were cold and had not been under the oracle map of late picks,
            so far.
    """

    def __init__(
        self,
        boot: Maps,
        *,
        rows: Sequence[int],
        row_bytes: Sequence[int],
        picks_per_token: int,
        rows_per_swap: int = 1,
        pace: Pace | None = None,
    ) -> None:
        """Start where the engine starts.

        Args:
            boot: bool[E] of each layer: which experts were hot at boot.
            rows: H of each layer.
            row_bytes: Bytes of one expert's rows in each layer.
            picks_per_token: k.
            rows_per_swap: Rows that a swap copies: 1 where the cold bank has every expert, else 2.
            pace: The settings.
        """
        self.pace = pace or Pace()
        self.boot: Map = np.array(boot, dtype=np.bool_)
        self.rows = np.array(rows, dtype=np.int64)
        self.swap_bytes = [each * rows_per_swap for each in row_bytes]
        self.picks_per_token = picks_per_token
        self.frozen = False
        self.guard = Guard(self.pace.window)
        self.scores: NDArray[np.float64] = np.zeros(self.boot.shape)
        self.shadow = self.boot.copy()
        self.held_back = 0
        self.regret_picks = 0
        self._ledger = Ledger(self.boot.shape, rows_per_swap, self.pace)

    def step(self, counts: NDArray[np.int64], hot: Maps, budget_bytes: int) -> list[Swap]:
        """Say what to swap now.

        Args:
            counts: int64[L, E], picks since the last call; the map stood still meanwhile.
            hot: bool[E] of each layer: which experts are hot now.
            budget_bytes: That the swaps may copy.

        Returns:
            Swaps that ``swaps.require_sound`` takes, those that save most first; often none.
        """
        picked = self.see(counts, hot)
        self.held_back = 0
        if self.frozen or not picked:
            return []
        moves = self._taken(self._better(), budget_bytes)
        self._ledger.ask(moves)
        if self.guard.trusted:
            return moves
        self.shadow = _after(self.shadow, moves)
        self.held_back = 0  # the shadow's swaps are nobody's
        return self._taken(self._back(np.array(hot, dtype=np.bool_)), budget_bytes)

    def see(self, counts: NDArray[np.int64], hot: Maps) -> bool:
        """Take in what was picked, and swap nothing: before somebody else changes the map.

        Args:
            counts: int64[L, E], picks since the last call; the map stood still meanwhile.
            hot: bool[E] of each layer: which experts were hot.

        Returns:
            Whether anything was picked.
        """
        now: Map = np.array(hot, dtype=np.bool_)
        tokens = float(counts.sum()) / (self.picks_per_token * len(self.boot))
        if self.guard.trusted:
            self.shadow = now
            self._ledger.settle(now)
        self._ledger.go_on(tokens, self.pace)
        self.scores *= 0.5 ** (tokens / self.pace.half_life)
        self.scores += counts
        more = int(counts[~now].sum()) - int(counts[~self._oracle()].sum())
        self.regret_picks += max(0, more)
        if not self.frozen and self._judge(counts, tokens) and self.guard.trusted:
            self.shadow = now
        return tokens > 0

    def begin_from(self, hot: Maps) -> None:
        """Go on from a map that somebody set; it is trusted as that of the boot was.

        Args:
            hot: bool[E] of each layer.
        """
        self.shadow = np.array(hot, dtype=np.bool_)
        self.guard.trust_anew()

    def shares(self, hot: Maps) -> dict[str, float]:
        """Tell what share of late picks is cold, under this map and others; 0 where there are none.

        Args:
            hot: bool[E] of each layer.

        Returns:
            ``cold`` under the given map, ``boot`` under the boot map, ``oracle`` under the best
            one for these picks, ``null`` where every expert were picked alike.
        """
        scores, experts = self.scores, self.scores.shape[1]
        whole = scores.sum() or 1.0
        return {
            "cold": float((scores * ~np.array(hot)).sum() / whole),
            "boot": float((scores * ~self.boot).sum() / whole),
            "oracle": float((scores * ~self._oracle()).sum() / whole),
            "null": float(1 - self.rows.mean() / experts),
        }

    def told(self) -> dict[str, Any]:
        """Tell how it stands, as values that JSON can carry."""
        guard = self.guard
        return {
            "frozen": self.frozen,
            "trusted": guard.trusted,
            "fallbacks": guard.fallbacks,
            "returns": guard.returns,
            "ahead": guard.ahead,
            "held_back": self.held_back,
        }

    def _oracle(self) -> Map:
        """Give the best map for late picks; of equals, the lower ids."""
        order = np.argsort(-self.scores, axis=1, kind="stable")
        best: Map = np.zeros(self.scores.shape, np.bool_)
        taken = np.arange(self.scores.shape[1]) < self.rows[:, None]
        np.put_along_axis(best, order, taken, axis=1)
        return best

    def _judge(self, counts: NDArray[np.int64], tokens: float) -> bool:
        apart = self.shadow != self.boot
        ahead = int(counts[self.shadow & apart].sum()) - int(counts[self.boot & apart].sum())
        self.guard.window = self.pace.window
        return self.guard.weigh(
            tokens, ahead=ahead - self._ledger.paid(), differing=float(counts[apart].sum())
        )

    def _better(self) -> Iterable[tuple[float, Swap]]:
        movable = self._ledger.movable(self.pace.residence)
        room = self.rows - self.shadow.sum(axis=1)
        for layer, scores in enumerate(self.scores):
            found = better(
                layer, scores, self.shadow[layer], movable[layer], int(room[layer]), self.pace
            )
            yield from islice(found, int(self._ledger.credit[layer]))

    def _back(self, now: Map) -> Iterable[tuple[float, Swap]]:
        for layer, scores in enumerate(self.scores):
            found = towards(layer, scores, now[layer], self.boot[layer])
            yield from islice(found, self.pace.swaps)

    def _taken(self, found: Iterable[tuple[float, Swap]], budget_bytes: int) -> list[Swap]:
        taken, left = [], budget_bytes
        for _, swap in sorted(found, key=lambda each: -each[0]):
            size = self.swap_bytes[swap.layer]
            if size > left:
                self.held_back += 1
                continue
            left -= size
            taken.append(swap)
        return taken


def _after(hot: Map, swaps: Sequence[Swap]) -> Map:
    """Give the map that swaps make of another."""
    made = hot.copy()
    for swap in swaps:
        if swap.promote is not None:
            made[swap.layer, swap.promote] = True
        if swap.demote is not None:
            made[swap.layer, swap.demote] = False
    return made
