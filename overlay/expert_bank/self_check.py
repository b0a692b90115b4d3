# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One layer asked twice: its output must not tell which bank its experts are in."""

from collections.abc import Callable

import torch

from expert_bank.refused import Refused
from expert_bank.swaps import Swap
from expert_bank.two_bank import TwoBank

Run = Callable[[int, list[int]], torch.Tensor]


def require_map_invariant(two_bank: TwoBank, run: Run) -> str:
    """Swap two experts of a layer and back, and compare the layer's output bit by bit.

    Args:
        two_bank: Of the worker; nothing may be scheduled.
        run: Runs a layer by its number over fixed tokens that pick the given experts, uncounted.

    Returns:
        A line for people.

    Raises:
        Refused: The output moved with the map, or a swap failed; the message names layer and
            experts.
    """
    for layer, hot in enumerate(two_bank.table.is_hot()):
        if hot.any() and not hot.all():
            return _check(two_bank, run, layer, int(hot.argmax()), int((~hot).argmax()))
    return "self-check: no layer has both hot and cold experts"


def _check(two_bank: TwoBank, run: Run, layer: int, hot: int, cold: int) -> str:
    name = two_bank.swapper.banks[layer].name
    there, back = Swap(layer, promote=cold, demote=hot), Swap(layer, promote=hot, demote=cold)
    before = run(layer, [hot, cold]).clone()
    for swap in (there, back):
        two_bank.barrier.drain()
        if failure := two_bank.swapper.swap(swap).failure:
            raise Refused(f"self-check of {name}: {failure}")
        after = run(layer, [hot, cold])
        if not same_bits(before, after):
            moved = "both moved" if swap is there else "both moved back"
            raise Refused(
                f"self-check of {name}: experts {hot} and {cold} answer otherwise once they have"
                f" {moved}: {differing(before, after)} of {before.numel()} elements differ",
                hint="this kernel's output depends on where a row is; run without moe_hot_experts",
            )
    return f"self-check of {name}: experts {hot} and {cold} swapped and back, bit-equal"


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Tell whether two tensors hold the same bytes, NaNs included."""
    return bool(torch.equal(_bytes(one), _bytes(other)))


def differing(one: torch.Tensor, other: torch.Tensor) -> int:
    """Count the elements whose bytes differ."""
    size = one.element_size()
    unequal = (_bytes(one) != _bytes(other)).view(-1, size)
    return int(unequal.any(dim=1).sum())


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)
