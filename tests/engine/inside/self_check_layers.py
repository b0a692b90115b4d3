"""Checks of which layer a self-check asks: ``self_check_layers.py RESULT``; needs vLLM, and no model."""

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import torch
from checks import tell
from small_banks import raised, small
from vllm.config import VllmConfig

from expert_bank.glue import banking
from expert_bank.glue.banked import BankedExperts
from expert_bank.glue.banking import map_invariance, require_map_invariance
from expert_bank.refused import Refused

NAMES = ("layers.0.experts", "layers.1.experts", "layers.2.experts")


class Named(BankedExperts):
    """A layer of which nothing is built but its name."""

    def __init__(self, name: str) -> None:
        torch.nn.Module.__init__(self)
        self.layer_name = name


def check(names: tuple[str, ...]) -> list[str]:
    """Run both self-checks over a model that has layers in this order; which were asked, in order."""
    two_bank = small([3, 4, 5], "mirror").two_bank
    model = torch.nn.ModuleList(Named(name) for name in names)
    asked: list[str] = []

    def layer_run(layers: list[Named], *_: object) -> Callable[[int, list[int]], torch.Tensor]:
        def run(number: int, _experts: list[int]) -> torch.Tensor:
            asked.append(layers[number].layer_name)
            return torch.zeros(1)

        return run

    with (
        patch.object(banking, "layer_run", layer_run),
        patch.object(banking, "token_counts", lambda *_: [1]),
    ):
        assert not any(map_invariance(two_bank, model, VllmConfig()))
        require_map_invariance(two_bank, model, VllmConfig())
    return asked


def each_layer_is_asked_of_its_own_bank() -> None:
    """By its name, whatever the order of modules; layers that have no bank are left out."""
    orders = (NAMES, NAMES[::-1], ("draft.experts", *NAMES), (NAMES[1], "x", NAMES[0], NAMES[2]))
    for order in orders:
        assert check(order) == [name for _ in range(2) for name in NAMES for _ in range(3)], order


def a_bank_that_no_layer_has_is_refused_by_name() -> None:
    """Or that two have."""
    told = raised(Refused, partial(check, NAMES[:2]))
    assert "layers.2.experts" in told, told
    assert "layers.1.experts" not in told, told
    told = raised(Refused, partial(check, (*NAMES, NAMES[1])))
    assert "layers.1.experts" in told, told


CHECKS = (each_layer_is_asked_of_its_own_bank, a_bank_that_no_layer_has_is_refused_by_name)

if __name__ == "__main__":
    tell(CHECKS)
