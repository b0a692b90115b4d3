"""How evenly a router uses its experts."""

from collections.abc import Sequence

import torch
from torch import Tensor


def imbalance(logits: Sequence[Tensor], picks: int) -> Tensor:
    """Differentiable imbalance, layer by layer: 0 where a layer's experts are used alike.

    transformers' own loss is over the picks of all layers together, which is even as well where
    each layer uses but a few experts, and other layers use others.

    Args:
        logits: Of each layer's router, float32 [T, E].
        picks: How many experts a token gets.

    Returns:
        Mean over layers, a scalar: E x the sum over experts of share of picks x mean probability,
        less 1.
    """
    return torch.stack([_layer(each, picks) for each in logits]).mean()


def _layer(logits: Tensor, picks: int) -> Tensor:
    shares = picked(logits, picks).float()
    shares /= shares.sum()
    return logits.shape[-1] * (shares * logits.softmax(-1).mean(0)).sum() - 1


def picked(logits: Tensor, picks: int) -> Tensor:
    """How often each expert is picked, int64 [E], by router logits of [T, E]."""
    return torch.bincount(logits.topk(picks, -1).indices.flatten(), minlength=logits.shape[-1])
