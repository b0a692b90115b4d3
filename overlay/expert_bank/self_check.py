# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Layers asked twice: their output must not tell which bank an expert is in."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch

from expert_bank.bank import LayerBank
from expert_bank.refused import worded
from expert_bank.swaps import Swap
from expert_bank.two_bank import TwoBank

# Enough for a kernel that treats each token apart.
TOKENS = 4
# Numbers of tokens that FlashInfer's MoE kernels are tuned apart for: powers of two up to this one,
# and multiples of it (it leaves some of them out).
TUNED = 256

# Runs a layer by its number over fixed tokens that pick the given experts, uncounted.
Run = Callable[[int, list[int]], torch.Tensor]


def mixed_layers(two_bank: TwoBank) -> list[int]:
    """Number the layers that have, or may have, both hot and cold experts."""
    return [
        layer
        for layer, bank in enumerate(two_bank.swapper.banks)
        if bank.hot and not two_bank.table.is_hot()[layer].all()
    ]


def staged_layers(two_bank: TwoBank) -> list[int]:
    """Number the layers whose cold rows are staged; they need no hot ones."""
    return [] if two_bank.staging is None else [*two_bank.staging.layers]


def one_of_each_size(two_bank: TwoBank, layers: Iterable[int]) -> list[int]:
    """Number one of the layers for each pair of bank sizes: a kernel may be tuned for each apart."""
    banks = two_bank.swapper.banks
    found: dict[tuple[int, int], int] = {}
    for layer in layers:
        found.setdefault((banks[layer].hot, banks[layer].cold), layer)
    return list(found.values())


def token_counts(bank: LayerBank, most: int) -> list[int]:
    """Choose over how many tokens a layer is to be asked.

    A kernel over two allocations may compute with other tiles for other numbers of tokens, and then
    those of the hot and of the cold rows need not be the same.

    Args:
        bank: Of the layer.
        most: Tokens of the largest step.
    """
    if bank.one_allocation:
        return [min(TOKENS, most)]
    powers = (2**power for power in range(TUNED.bit_length()))
    return sorted({each for each in (*powers, *range(TUNED, most, TUNED)) if each < most} | {most})


def map_variant(two_bank: TwoBank, run: Run, layer: int) -> list[str]:
    """Swap two experts of a layer and back, and compare its output bit by bit.

    Where none is hot yet, one gets hot and cold again. What the layer raises is raised; the two
    are swapped back first.

    What this enters of the seams is not counted.

    Args:
        two_bank: Of the worker; nothing may be scheduled.
        run: See ``Run``.
        layer: One of ``mixed_layers``.

    Returns:
        What is wrong, by layer and experts; empty where the output is the same each time.
    """
    with two_bank.uncounted():
        return list(_variant(two_bank, run, layer))


def stage_variant(two_bank: TwoBank, run: Run, layer: int) -> list[str]:
    """Compare a layer's output with that over staged rows, bit by bit.

    Args:
        two_bank: Of the worker; nothing may be scheduled.
        run: See ``Run``.
        layer: One of ``staged_layers``.

    Returns:
        What is wrong; empty where it is the same, or the layer has more cold experts than slots now.
    """
    staging = two_bank.staging
    if staging is None or staging.off or not staging.fits(layer):
        return []
    name = two_bank.swapper.banks[layer].name
    cold = np.flatnonzero(~two_bank.table.is_hot()[layer]).tolist()
    before = run(layer, cold).clone()
    failed = staging.done.failed
    with staging.checking(layer):
        after = run(layer, cold)
    if staging.done.failed > failed:
        return [staging.off]
    if count := differing(before, after):
        return [f"{name}: {count} of {before.numel()} elements of the output differ once staged"]
    return []


def _variant(two_bank: TwoBank, run: Run, layer: int) -> Iterator[str]:
    is_hot = two_bank.table.is_hot()[layer]
    hot = int(is_hot.argmax()) if is_hot.any() else None
    cold = int((~is_hot).argmax())
    name = two_bank.swapper.banks[layer].name
    asked = [expert for expert in (hot, cold) if expert is not None]
    who = " and ".join(map(str, asked))
    before = run(layer, asked).clone()
    there, back = Swap(layer, promote=cold, demote=hot), Swap(layer, promote=hot, demote=cold)
    swapped = False
    try:
        for swap, moved in ((there, "were swapped"), (back, "were swapped back")):
            two_bank.barrier.drain()
            if failure := two_bank.swapper.swap(swap).failure:
                yield f"{name}, experts {who} cannot be swapped: {failure}"
                return
            swapped = swap is there
            after = run(layer, asked)
            if count := differing(before, after):
                yield (
                    f"{name}, experts {who}: {count} of {before.numel()} elements of the"
                    f" output differ once they {moved}"
                )
    except BaseException as error:
        if swapped and (failure := _swap_back(two_bank, back)):
            error.add_note(f"{name}, experts {who} stay swapped: {failure}")
        raise


def _swap_back(two_bank: TwoBank, back: Swap) -> str:
    """Swap back behind an error; why that failed, or nothing."""
    try:
        two_bank.barrier.drain()
        return two_bank.swapper.swap(back).failure
    except Exception as error:  # noqa: BLE001 - the first error is to be told
        return worded(error)


def differing(one: torch.Tensor, other: torch.Tensor) -> int:
    """Count the elements whose bytes differ, NaNs compared as any others."""
    unequal = (_bytes(one) != _bytes(other)).view(-1, one.element_size())
    return int(unequal.any(dim=1).sum())


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)
