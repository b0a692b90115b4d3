"""The training itself."""

import math
import time
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from training.balance import imbalance

TOLD_EVERY = 5.0
WARM_UP = 40


def train(
    model: Any,  # noqa: ANN401 - transformers' Qwen3MoeForCausalLM
    ids: Mapping[str, Tensor],
    told: Mapping[str, Any],
    seed: int,
) -> None:
    """Train a model in place; prints a line that begins with ``training:`` every few seconds.

    Args:
        model: Float32, gives its routers' logits.
        ids: By kind, int64 [N], each longer than a window.
        told: ``steps``; ``batch``, windows in a step, half of each of two kinds; ``length`` of a
            window in tokens; the peak learning ``rate``; the peak weight of the ``balance``.
        seed: Of the choice of windows.
    """
    steps, rate = told["steps"], told["rate"]
    source = torch.Generator().manual_seed(seed)
    matrices = [each for each in model.parameters() if each.ndim > 1]
    gains = [each for each in model.parameters() if each.ndim == 1]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": gains, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95), fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: pace(step, steps))
    spoken = 0.0
    for step in range(1, steps + 1):
        windows = torch.cat([drawn(each, told, len(ids), source) for each in ids.values()])
        out = model(windows[:, :-1])
        losses = functional.cross_entropy(
            out.logits.transpose(1, 2), windows[:, 1:], reduction="none"
        )
        uneven = imbalance(out.router_logits, model.config.num_experts_per_tok)
        # Less and less, as the rate: first all experts find a use, then each is left to it.
        weight = told["balance"] * schedule.get_last_lr()[0] / rate
        (losses.mean() + weight * uneven).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        if time.monotonic() - spoken > TOLD_EVERY or step == steps:
            spoken = time.monotonic()
            means = losses.detach().reshape(len(ids), -1).mean(1).tolist()
            shown = ", ".join(f"{kind} {mean:.2f}" for kind, mean in zip(ids, means, strict=True))
            print(f"training: step {step} of {steps}, loss {shown}, imbalance {uneven:.2f}")


def pace(step: int, steps: int) -> float:
    """Factor of the learning rate: up, then down along a cosine to a twentieth."""
    return min(1.0, (step + 1) / WARM_UP) * (0.525 + 0.475 * math.cos(math.pi * step / steps))


def drawn(ids: Tensor, told: Mapping[str, Any], kinds: int, source: torch.Generator) -> Tensor:
    """Windows of one kind at random places, int64 [batch / kinds, length + 1]."""
    starts = torch.randint(len(ids) - told["length"], (told["batch"] // kinds, 1), generator=source)
    return ids[starts + torch.arange(told["length"] + 1)]
