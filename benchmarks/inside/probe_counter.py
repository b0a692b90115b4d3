"""E1's part that needs torch: ``probe_counter.py RESULT BLOCKS``, on CUDA, or under the interpreter.

RESULT becomes a JSON object: ``checked``, how many counts were held against what was picked; ``wrong``, in
words; ``rows``, times in milliseconds by the device's own clock, none without blocks.
"""

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from turns import Act, captured, in_turns

from expert_bank.split import split_cuda
from expert_bank.table_layout import BANK, PLACE

LAYERS, EXPERTS, HOT, K = 40, 384, 295, 6
TOKENS = (6, 16, 32)
KINDS = ("uniform", "zipf", "one")


def picks(kind: str, tokens: int, layers: int, device: torch.device) -> list[torch.Tensor]:
    """Draw each layer's ids, int32[T, K], K different ones a token.

    Args:
        kind: ``uniform``; ``zipf``, the r-th expert with 1/r of the first one's chance; ``one``, all
            tokens the same K, so that all counts go to the same cells.
        tokens: T.
        layers: How many.
        device: Where to.
    """
    draw = torch.Generator().manual_seed(20261204)
    if kind == "one":
        return [torch.arange(K, dtype=torch.int32, device=device).repeat(tokens, 1)] * layers
    weights = torch.ones(EXPERTS)
    if kind == "zipf":
        weights = 1.0 / torch.arange(1, EXPERTS + 1)
    late = torch.empty(layers, tokens, EXPERTS).exponential_(generator=draw) / weights
    ids = late.topk(K, largest=False).indices.int()
    return list(ids.to(device))


class Step:
    """All layers' splits, whose counts are watched."""

    def __init__(self, layers: int, device: torch.device) -> None:
        self.table = torch.zeros(4, EXPERTS, dtype=torch.int32, device=device)
        self.table[BANK, HOT:] = 1
        self.table[PLACE] = torch.arange(EXPERTS, dtype=torch.int32, device=device)
        self.counts = torch.zeros(layers, 2 * EXPERTS, dtype=torch.int32, device=device)

    def run(self, ids: Sequence[torch.Tensor], scheduled: torch.Tensor) -> None:
        """Split each layer's picks, and count those of the scheduled tokens."""
        for cells, routed in zip(self.counts, ids, strict=True):
            split_cuda(cells, routed, scheduled, self.table)

    def wrong(self, ids: Sequence[torch.Tensor], times: int) -> str:
        """Say where the counts are not these picks so many times, and begin anew."""
        found = self.counts.cpu().long()
        self.counts.zero_()
        for layer, (cells, routed) in enumerate(zip(found, ids, strict=True)):
            flat = routed.cpu().long().flatten()
            wanted = torch.bincount(flat + EXPERTS * (flat >= HOT), minlength=2 * EXPERTS) * times
            if not cells.equal(wanted):
                return f"layer {layer} counted {int(cells.sum())} picks, {int(wanted.sum())} made"
        return ""


def probe(blocks: int) -> dict[str, Any]:
    """Count on whatever device there is; time where there are blocks."""
    device = torch.device("cuda" if blocks else "cpu")
    layers = LAYERS if blocks else 2
    step, wrong, rows, checked = Step(layers, device), [], [], 0
    for tokens in TOKENS:
        every, none = (
            torch.full((1,), many, dtype=torch.int32, device=device) for many in (tokens, 0)
        )
        for kind in KINDS:
            ids = picks(kind, tokens, layers, device)
            acts: dict[str, Act] = {
                name: partial(step.run, ids, told)
                for name, told in (("mapped", none), ("counted", every), ("again", none))
            }
            times: dict[str, list[float]] = {}
            ran = 1
            if blocks:
                graphs = {name: captured(act) for name, act in acts.items()}
                step.counts.zero_()
                times, ran = in_turns({name: each.replay for name, each in graphs.items()}, blocks)
            else:
                for act in acts.values():
                    act()
            checked += 1
            if what := step.wrong(ids, ran):
                wrong.append(f"{tokens} tokens, {kind}: {what}")
            rows.append(
                {"tokens": tokens, "picks": tokens * K, "kind": kind, "layers": layers, **times}
            )
    return {"checked": checked, "wrong": wrong, "rows": rows if blocks else []}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(probe(int(sys.argv[2]))))
