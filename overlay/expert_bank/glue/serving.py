# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How a layer is served from its banks: by vLLM's own kernel, by row pointers, or by two calls."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from expert_bank import picked_ahead
from expert_bank.glue.row_pointers import RowPointers, against_row_pointers
from expert_bank.glue.two_calls import TwoCalls, against_two_calls
from expert_bank.late_split import LateSplit, Split
from expert_bank.staging.table_now import finds
from expert_bank.two_bank import TwoBank

if TYPE_CHECKING:
    from expert_bank.glue.banked import BankedExperts


def against_serving(layers: Sequence["BankedExperts"], device: torch.device) -> Iterator[str]:
    """Yield which layers no kernel serves from two allocations, and why not.

    On the CPU both banks are one allocation, and vLLM's kernel is given places in it.
    """
    if device.type == "cpu":
        return
    for layer in layers:
        reasons = against_row_pointers(layer), against_two_calls(layer)
        if all(reasons):
            yield f"{layer.layer_name}: {reasons[0]}, and {reasons[1]}"


def serve(layers: Sequence["BankedExperts"], two_bank: TwoBank) -> None:
    """Bind every layer to its banks, table and counts; before profiling and capture.

    Args:
        layers: In load order, none of which ``against_serving`` names.
        two_bank: Theirs.
    """
    counter, table = two_bank.counter, two_bank.table
    staged = {} if two_bank.staging is None else two_bank.staging.layers
    pointers: list[RowPointers | None] = []
    for number, (layer, bank) in enumerate(zip(layers, two_bank.swapper.banks, strict=True)):
        layer.pick_counts, layer.table = counter.counts[number], table.device[number]
        layer.scheduled_tokens = counter.scheduled
        pointers.append(None)
        if bank.one_allocation:
            continue
        if against_row_pointers(layer) is None:
            layer.row_pointers = pointers[-1] = RowPointers(bank, layer.table, staged.get(number))
        else:
            experts = layer.quant_method.moe_kernel.fused_experts
            calls = TwoCalls(experts, bank, staged.get(number))
            experts.apply = calls.apply
            two_bank.audits.append(calls.audit)

    def moved(number: int) -> None:
        if (found := pointers[number]) is not None:
            found.refresh()

    table.watchers.append(moved)


def count_late(layers: Sequence["BankedExperts"], two_bank: TwoBank) -> None:
    """Have picks counted many at a time: on the CPU, in eager steps alone."""
    splits = LateSplit(two_bank.counter, two_bank.table)
    for number, layer in enumerate(layers):
        table = two_bank.table.device[number]
        layer.late_split = splits.of_layer(number, finds.get(table.data_ptr()))


def read_ahead(layers: Sequence["BankedExperts"], two_bank: TwoBank) -> None:
    """Have the cold rows of picks asked for before a kernel reads them, where a file has them.

    Args:
        layers: In load order; those whose picks are counted late are bound to that.
        two_bank: Theirs.
    """
    for number, (layer, bank) in enumerate(zip(layers, two_bank.swapper.banks, strict=True)):
        if bank.ahead is None or not bank.cold:
            continue
        asks = picked_ahead.asks(bank, two_bank.table, number)
        picked_ahead.of_table[two_bank.table.device[number].data_ptr()] = asks
        if layer.late_split is not None:
            layer.late_split = _asking(layer.late_split, asks)


def _asking(split: Split, asks: picked_ahead.Asks) -> Split:
    def asked(ids: torch.Tensor) -> torch.Tensor:
        asks(ids)
        return split(ids)

    return asked
