# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Gives two banks their staging."""

import weakref
from functools import partial
from typing import TYPE_CHECKING

from expert_bank.staging.ahead import part_rows
from expert_bank.staging.cold_share import ColdShare
from expert_bank.staging.decision import Decision
from expert_bank.staging.room import StageRoom
from expert_bank.staging.side_thread import Side, SideThread
from expert_bank.staging.slots import Slots
from expert_bank.staging.staging import Staging
from expert_bank.staging.table_now import finds
from expert_bank.staging.threshold import Cold, null_share
from expert_bank.two_bank import TwoBank

if TYPE_CHECKING:
    import torch


def stage(
    two_bank: TwoBank,
    room: StageRoom,
    *,
    poison: bool,
    block: int = 1,
    side: Side | None = None,
) -> None:
    """Have the cold rows of prefill steps staged.

    Args:
        two_bank: Whose; its tensors have the buffer's rows.
        room: Of the buffer.
        poison: Whether the buffer is made NaN behind each step.
        block: Tokens of one expert that share one read of its row.
        side: Copies; a thread beside the engine's own, unless given.
    """
    if room.off:
        two_bank.unstaged = room.off
        return
    banks, counter, table = two_bank.swapper.banks, two_bank.counter, two_bank.table
    slots = Slots(room.layers, room.rows, part_rows(room.layers, room.row_bytes))
    share = ColdShare(counter, list(slots.layers), null_share(room.layers, banks[0].experts))
    cold = Cold.of(room.layers, counter.picks_per_token, block)
    staging = Staging(banks, table, slots, side or SideThread(), Decision(cold, share))
    staging.poison = poison
    two_bank.staging = staging
    two_bank.audits.append(staging.audit)
    share.watchers.append(staging.look)
    for number in slots.layers:
        address = table.device[number].data_ptr()
        finds[address] = partial(_enter, weakref.ref(staging), number)
        weakref.finalize(staging, finds.pop, address, None)


def _enter(staging: "weakref.ref[Staging]", layer: int) -> "torch.Tensor | None":
    found = staging()
    return None if found is None else found.enter(layer)
