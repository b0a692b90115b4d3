"""Checks of the training's balance loss: ``layer_balance.py RESULT``; needs torch, not vLLM.

RESULT becomes a JSON object: by the name of each check, null or why it failed.
"""

import torch
from checks import tell
from training.balance import imbalance, picked

EXPERTS = 16
K = 4
TOKENS = 4096
# Logits below the others': by so much that no probability is left.
NEVER = 50.0


def layer(used: slice, seed: int) -> torch.Tensor:
    """Draw a router's logits, float32 [T, E], that pick evenly among these experts and no other."""
    drawn = torch.rand(TOKENS, EXPERTS, generator=torch.Generator().manual_seed(seed))
    drawn -= NEVER
    drawn[:, used] += NEVER
    return drawn


def halves() -> list[torch.Tensor]:
    """Give two layers, each of which uses another half of the experts."""
    return [layer(slice(0, EXPERTS // 2), 1), layer(slice(EXPERTS // 2, EXPERTS), 2)]


def close(one: torch.Tensor, other: float) -> bool:
    """Up to what evenly drawn picks differ by."""
    return abs(float(one) - other) < 0.02


def each_layer_is_judged_by_itself() -> None:
    """Layers that use another half each are uneven, though the picks of both together are even."""
    apart = halves()
    assert close(imbalance(apart, K), 1.0)
    both = torch.cat(apart)
    joint = picked(both, K)
    assert int(joint.max() - joint.min()) < 0.1 * float(joint.float().mean())
    assert close(imbalance([both], K), 0.0)


def an_even_layer_has_the_least() -> None:
    """None; and the more, the fewer experts a layer uses."""
    found = [imbalance([layer(slice(0, used), 3)], K) for used in (EXPERTS, 12, 8, 4)]
    for used, loss in zip((EXPERTS, 12, 8, 4), found, strict=True):
        assert close(loss, EXPERTS / used - 1)
    # Each expert as often as any other, exactly.
    turns = torch.arange(TOKENS)[:, None] * K + torch.arange(K)
    even = torch.zeros(TOKENS, EXPERTS).scatter_(1, turns % EXPERTS, NEVER)
    assert abs(float(imbalance([even], K))) < 1e-5


def it_is_the_mean_over_layers() -> None:
    """One even layer beside an uneven one halves it."""
    assert close(imbalance([layer(slice(0, EXPERTS), 3), halves()[0]], K), 0.5)


def its_gradient_leads_to_the_experts_that_are_not_used() -> None:
    """Of each layer, to the half that the other uses."""
    # Near enough for some probability to be left.
    apart = [(each / NEVER).requires_grad_() for each in halves()]
    imbalance(apart, K).backward()
    for number, each in enumerate(apart):
        assert each.grad is not None
        mine, others = each.grad.sum(0).reshape(2, -1).sum(1)[[number, 1 - number]]
        assert mine > 0.1 > -0.1 > others


CHECKS = (
    each_layer_is_judged_by_itself,
    an_even_layer_has_the_least,
    it_is_the_mean_over_layers,
    its_gradient_leads_to_the_experts_that_are_not_used,
)


if __name__ == "__main__":
    tell(CHECKS)
