# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What to swap at a barrier so that the hot experts are those that traffic picks.

NumPy alone, and no clock: an engine and a replay of its picks come to the same swaps.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from expert_bank.guard import Guard
from expert_bank.late import Late, Map
from expert_bank.ledger import Ledger
from expert_bank.moves import Found, after, better_map, way_to, within
from expert_bank.pace import Pace
from expert_bank.swaps import Swap
from expert_bank.weighing import Spread, weights

Maps: TypeAlias = Map | Sequence[Map]


class Policy:
    """Follows traffic with a map of its own, and has the engine's follow that while it pays.

    A score is an expert's picks, each of which counts half after ``half_life`` tokens. While the
    guard trusts the moving map, it is the engine's. Else the engine's goes back to the boot map,
    and the moving map goes on as a shadow, with the swaps it would have made, until it has won
    again.

    Attributes:
        pace: The settings; may be replaced at any time.
        frozen: Whether the map is to stay as it is; scores go on.
        guard: Whether the moving map is trusted.
        scores: float64[L, E].
        shadow: bool[L, E], the moving map.
        held_back: Swaps that the last step left for later: worth it, and over the byte budget.
        late: Cold picks under the map that served, the boot map and the oracle map.
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
        self.late = Late(self.boot, self.rows)
        self._spread = Spread()
        self._ledger = Ledger(self.boot.shape, rows_per_swap, self.pace)

    def step(
        self,
        counts: NDArray[np.int64],
        hot: Maps,
        budget_bytes: int,
        wanted: NDArray[np.float64] | None = None,
    ) -> list[Swap]:
        """Say what to swap now.

        Args:
            counts: int64[L, E], picks since the last call; the map stood still meanwhile.
            hot: bool[E] of each layer: which experts are hot now.
            budget_bytes: That the swaps may copy.
            wanted: float64[L, E], shares of each layer's picks that are expected from here on; they
                stand in for the shares of what was picked, and all that bounds a swap holds for
                them, too. None to go by what was picked.

        Returns:
            Swaps that ``swaps.require_sound`` takes, those that save most first; often none.
        """
        picked = self.see(counts, hot)
        self.held_back = 0
        if self.frozen or not picked:
            return []
        ledger = self._ledger
        spread, movable = self._spread.value, ledger.movable(self.pace.residence)
        scores = self.scores
        if wanted is not None:
            scores = wanted * scores.sum(axis=1, keepdims=True)
        found = better_map(
            scores, spread, self.shadow, movable, self.rows, ledger.credit, self.pace
        )
        moves = self._within(found, budget_bytes)
        if self.guard.trusted:
            ledger.ask(moves)
            return moves
        ledger.charge(moves)
        self.shadow = after(self.shadow, moves)
        self.held_back = 0  # the shadow's swaps are nobody's
        now: Map = np.array(hot, dtype=np.bool_)
        back = self._within(way_to(self.scores, now, self.boot, ledger.served), budget_bytes)
        ledger.go_back(back)
        return back

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
        self._ledger.settle(now)
        if self.guard.trusted:
            self.shadow = now
        self._ledger.go_on(tokens, self.pace)
        weighed = weights(tokens, self.pace.half_life)
        self.late.take(counts, now, self.scores, weighed)
        self.scores = self.scores * weighed.kept + counts * weighed.mean
        self._spread.go_on(tokens, weighed)
        if not self.frozen and self._judge(counts, tokens) and self.guard.trusted:
            self.shadow = now
            self._ledger.begin_anew()
        return tokens > 0

    def begin_from(self, hot: Maps) -> None:
        """Go on from a map that somebody set; it is trusted as that of the boot was.

        Args:
            hot: bool[E] of each layer.
        """
        self.shadow = np.array(hot, dtype=np.bool_)
        self.guard.trust_anew()
        self._ledger.begin_anew()

    @property
    def regret_picks(self) -> int:
        """Picks so far that were cold beyond those under the oracle map; below 0 where fewer."""
        return self.served_cold - self.oracle_cold

    @property
    def served_cold(self) -> int:
        """Picks so far that were cold."""
        return int(self.late.cold[0].sum())

    @property
    def oracle_cold(self) -> int:
        """Picks so far that were cold if the oracle map had served; see ``Late``."""
        return int(self.late.cold[2].sum())

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

    def _judge(self, counts: NDArray[np.int64], tokens: float) -> bool:
        apart = self.shadow != self.boot
        ahead = int(counts[self.shadow & apart].sum()) - int(counts[self.boot & apart].sum())
        self.guard.window = self.pace.window
        return self.guard.weigh(
            tokens, ahead=ahead - self._ledger.paid(), differing=float(counts[apart].sum())
        )

    def _within(self, found: Found, budget_bytes: int) -> list[Swap]:
        taken, others = within(found, self.swap_bytes, budget_bytes)
        self.held_back += others
        return taken
