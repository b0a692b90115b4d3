"""Fit a head for each layer that guesses its picks before attention: ``fit_head.py FOLDER``.

Run by path with the lane's Python. FOLDER has ``spec.json`` (``experts``, ``width``, ``seed``) and, as
``.npy``, ``hidden`` (float16[T, L, h], the residual stream as it enters each layer), ``ids``
(uint16[T, L, k]) and the tokens ``fitted``, ``checked`` and ``scored`` (int64). It writes ``ranks.npy``,
int32[scored, L, width], the likeliest expert first. Ends with 3 where torch is not here.

A head is two linear functions of the state, normalised as in front of a layer: h to r to E numbers. They are
fitted to rank each pick above all that was not picked, in whatever order the picks are among
themselves; what recalled most of ``checked`` on the way is kept.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

NO_TORCH = 3
MOST_BETWEEN = 256
BATCH, STEPS, LOOK = 1024, 2000, 200
RATE, DECAY = 3e-3, 1e-2
SCORED_AT_ONCE = 8192


def main(place: str) -> None:
    """Fit, guess and write."""
    try:
        import torch  # noqa: PLC0415 - whether it is here is told by the exit status
    except ImportError:
        sys.exit(NO_TORCH)
    # Another engine may run beside it; and sums come out the same on any machine's cores.
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    folder = Path(place)
    spec = json.loads((folder / "spec.json").read_text())
    hidden, ids, fitted, checked, scored = (
        np.load(folder / f"{name}.npy", mmap_mode="r")
        for name in ("hidden", "ids", "fitted", "checked", "scored")
    )
    ranks = np.empty((len(scored), ids.shape[1], spec["width"]), np.int32)
    for layer in range(ids.shape[1]):
        state, picks = (np.ascontiguousarray(each[:, layer]) for each in (hidden, ids))
        torch.manual_seed(spec["seed"] + layer)
        head = Head(torch, state[fitted], spec["experts"])
        seen = head.fit(state[fitted], picks[fitted], state[checked], picks[checked])
        ranks[:, layer] = head.ranked(state[scored], spec["width"])
        print(f"training: head {layer + 1} of {ids.shape[1]}, {seen}", flush=True)
    np.save(folder / "ranks.npy", ranks)


class Head:
    """Of one layer."""

    def __init__(self, torch: Any, state: Any, experts: int) -> None:  # noqa: ANN401 - torch's, NumPy's
        self.torch = torch
        size = state.shape[1]
        between = min(MOST_BETWEEN, max(size, 1))
        # Of what is fitted on, number by number: the first of the two functions could do it itself.
        plain = self.normalised(state)
        self.mean, self.spread = plain.mean(0), plain.std(0, correction=0) + 1e-3
        self.first = torch.nn.Linear(size, between)
        self.second = torch.nn.Linear(between, experts)

    def normalised(self, state: Any) -> Any:  # noqa: ANN401 - NumPy's to torch's
        """Divide each state by its root mean square: float32[T, h]."""
        found = self.torch.from_numpy(np.asarray(state, np.float32))
        return found / (found.square().mean(1, keepdim=True) + 1e-6).sqrt()

    def logits(self, plain: Any) -> Any:  # noqa: ANN401 - torch's
        """Rank the experts for states: float32[T, E]."""
        return self.second(self.first((plain - self.mean) / self.spread))

    def fit(self, state: Any, picks: Any, aside: Any, aside_picks: Any) -> str:  # noqa: ANN401 - NumPy's
        """Fit on states and their picks; what it recalls of those aside, in words."""
        torch = self.torch
        plain = self.normalised(state)
        picked = torch.zeros(len(plain), self.second.out_features, dtype=torch.bool)
        picked.scatter_(1, torch.from_numpy(picks.astype(np.int64)), value=True)
        weights = [*self.first.parameters(), *self.second.parameters()]
        optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=STEPS)
        best, kept = -1.0, [each.detach().clone() for each in weights]
        for step in range(1, STEPS + 1):
            batch = torch.randint(len(plain), (min(BATCH, len(plain)),))
            loss = self.loss(self.logits(plain[batch]), picked[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            if step % LOOK == 0 and len(aside):
                recall = self.recall(aside, aside_picks)
                if recall > best:
                    best, kept = recall, [each.detach().clone() for each in weights]
        if not len(aside):
            return "nothing aside"
        with torch.no_grad():
            for each, value in zip(weights, kept, strict=True):
                each.copy_(value)
        return f"recalls {best:.4f} of what was kept aside"

    def loss(self, logits: Any, picked: Any) -> Any:  # noqa: ANN401 - torch's
        """Give the mean cross entropy of each pick with what was not picked: bool[T, E]."""
        others = self.torch.logsumexp(logits.masked_fill(picked, -self.torch.inf), 1, keepdim=True)
        return self.torch.nn.functional.softplus(others - logits)[picked].mean()

    def recall(self, state: Any, picks: Any) -> float:  # noqa: ANN401 - NumPy's
        """Tell which share of the picks are among as many names."""
        ranks = self.ranked(state, picks.shape[1])
        return float((picks[:, :, None] == ranks[:, None, :]).any(axis=2).mean())

    def ranked(self, state: Any, width: int) -> Any:  # noqa: ANN401 - NumPy's
        """Name the likeliest experts: int32[T, width]."""
        parts = [np.empty((0, width), np.int32)]
        with self.torch.no_grad():
            for start in range(0, len(state), SCORED_AT_ONCE):
                logits = self.logits(self.normalised(state[start : start + SCORED_AT_ONCE]))
                order = logits.argsort(dim=1, descending=True, stable=True)[:, :width]
                parts.append(order.numpy().astype(np.int32))
        return np.concatenate(parts)


if __name__ == "__main__":
    main(*sys.argv[1:])
