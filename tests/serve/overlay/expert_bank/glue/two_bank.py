"""Rows in two banks, the cold one a mirror of all of them: a few integers, truly moved."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TENSORS = ("w13", "w2")
WORD = 4


class LayerBank:
    """A layer's hot rows, and behind them a cold one of every expert."""

    def __init__(self, layer: Any, hot: Sequence[int]) -> None:  # noqa: ANN401 - BankedExperts
        self.name = layer.layer_name
        self.hot = len(hot)
        self.loaded = [[row.value for row in rows] for rows in layer.rows]
        self.place = [self.hot + expert for expert in range(len(self.loaded[0]))]
        for row, expert in enumerate(hot):
            self.place[expert] = row
        layer.rows = [[*(rows[expert].clone() for expert in hot), *rows] for rows in layer.rows]
        self.rows = layer.rows
        # Served from the hot bank, and from the cold one.
        self.picks = [0, 0]

    def is_hot(self, expert: int) -> bool:
        return self.place[expert] < self.hot

    def swap(self, promote: int, demote: int, *, tensors: int = len(TENSORS)) -> None:
        """Move a cold expert's row of the first ``tensors`` into a hot expert's place."""
        place, self.place[demote] = self.place[demote], self.hot + demote
        for rows in self.rows[:tensors]:
            rows[place].copy_(rows[self.hot + promote])
        self.place[promote] = place

    def wrong(self, expert: int) -> str:
        """Tell which tensors' row of an expert is not what was loaded; empty where none is."""
        place = self.place[expert]
        pairs = zip(TENSORS, self.rows, self.loaded, strict=True)
        found = [name for name, rows, was in pairs if rows[place].value != was[expert]]
        side, row = ("hot", place) if self.is_hot(expert) else ("cold", place - self.hot)
        where = f"{self.name}, expert {expert}: {side} row {row} of {', '.join(found)}"
        return f"{where} is not what was loaded" if found else ""


class TwoBank:
    def __init__(
        self,
        layers: Sequence[Any],
        hot: int,
        boot_map: str,
        lies: Mapping[str, Any],
    ) -> None:
        self.lies = lies
        self.banks = [LayerBank(layer, chosen(layer, hot, boot_map)) for layer in layers]
        for layer, bank in zip(layers, self.banks, strict=True):
            layer.bank = bank
        if "wrong" in lies:
            layer, expert = lies["wrong"]
            bank = self.banks[layer]
            bank.rows[0][bank.place[expert]].value ^= 1
        self.forced = (0, 0, 0)
        self.follows: bool | None = None
        self.begun = 0
        self.forwards = self.barriers = self.swaps = self.failed = self.bytes = 0

    def forward(self) -> None:
        """Swap before every n-th forward, where that was asked for."""
        self.forwards += 1
        every, pairs, seed = self.forced
        if every and self.forwards % every == 0:
            self.barriers += 1
            draw = random.Random(f"{seed}.{self.forwards}")  # noqa: S311 - no secret
            for number, bank in enumerate(self.banks):
                self._swap(number, bank, pairs, draw)

    def _followed(self) -> dict[str, Any]:
        every = self.forced[0]
        decisions = self.barriers - self.begun
        return {"trusted": True, "every": every, "decisions": decisions, "ended": ""}

    def map(self, wanted: Sequence[Sequence[int]] | None) -> list[list[int]]:
        """Make these the hot experts of each layer; which are."""
        for bank, hot in zip(self.banks, wanted or [()] * len(self.banks), strict=True):
            now = [expert for expert in range(len(bank.place)) if bank.is_hot(expert)]
            come = [expert for expert in hot if expert not in now]
            for promote, demote in zip(come, [e for e in now if e not in hot], strict=False):
                bank.swap(promote, demote)
                self.swaps += 1
                self.bytes += len(TENSORS) * WORD
        return [[e for e in range(len(bank.place)) if bank.is_hot(e)] for bank in self.banks]

    def _swap(self, number: int, bank: LayerBank, pairs: int, draw: random.Random) -> None:
        order = draw.sample(range(len(bank.place)), len(bank.place))
        cold = [expert for expert in order if not bank.is_hot(expert)]
        hot = [expert for expert in order if bank.is_hot(expert)]
        for promote, demote in [*zip(cold, hot, strict=False)][:pairs]:
            if self.failed < self.lies.get("failing", 0):
                self.failed += 1
                continue
            torn = number == self.lies.get("torn")
            bank.swap(promote, demote, tensors=1 if torn else len(TENSORS))
            self.swaps += 1
            self.bytes += 0 if "unmoved" in self.lies else len(TENSORS) * WORD

    def audit(self) -> list[str]:
        if "blind" in self.lies:
            return []
        found = (bank.wrong(expert) for bank in self.banks for expert in range(len(bank.place)))
        return [*filter(None, found)]

    def told(self) -> dict[str, Any]:
        hot, cold = (sum(bank.picks[side] for bank in self.banks) for side in (0, 1))
        if "never_cold" in self.lies:
            hot, cold = hot + cold, 0
        return {
            "hot_rows": [bank.hot for bank in self.banks],
            "hot_picks": hot + self.lies.get("more_hot", 0),
            "cold_picks": cold,
            "row_bytes": [len(TENSORS) * WORD for _ in self.banks],
            "forwards": self.forwards,
            "barriers": self.barriers,
            "swaps": self.swaps,
            "failed": self.failed,
            "cut": 0,
            "bytes": self.bytes,
            "seconds": self.barriers * 0.001,
            "budgets": {"bytes": None, "seconds": None},
            "failures": ["a copy was told to fail"] * self.failed,
            "resident": [],
            "closed": [],
            "follows": self.follows and self._followed(),
            "file": None,
            "staging": None,
            "seams": {
                "RowTable": {"from": "own", "calls": len(self.banks) + 2 * self.swaps},
                "RowCopy": {"from": "own", "calls": self.swaps},
                "HostRows": {"from": "own", "calls": 1},
            },
        }


def chosen(layer: Any, hot: int, boot_map: str) -> list[int]:  # noqa: ANN401 - BankedExperts
    """List the first experts, or the most picked ones by a file."""
    experts = range(layer.global_num_experts)
    if boot_map == "first":
        return [*experts[:hot]]
    counts = json.loads(Path(boot_map).read_text())["layers"][layer.layer_name]
    return sorted(experts, key=lambda expert: -counts[expert])[:hot]
