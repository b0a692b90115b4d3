# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which row holds which expert of which layer, by the names that #56177 gives them; written anew."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

# What is copied together.
TENSORS = (
    "w13_weight",
    "w2_weight",
    "w13_weight_scale",
    "w2_weight_scale",
    "w13_weight_scale_2",
    "w2_weight_scale_2",
)
NOBODY = -1


@dataclass
class GlobalTables:
    """All layers' entries; an expert's key is its layer times E, and its number.

    Attributes:
        num_layers: L.
        num_experts: E.
        pool_rows: Rows of all layers together.
        hot_phys: int32[L * E], row of a key, or nobody's.
        cold_phys: int32[L * E], host row of a key that has no other.
        row_key: int32[rows and staging], key of a row.
        gate: int32[1], whether a planner may move rows.
        staging_rows: int32[staging], those behind the pool.
    """

    num_layers: int
    num_experts: int
    pool_rows: int
    hot_phys: "torch.Tensor"
    cold_phys: "torch.Tensor"
    row_key: "torch.Tensor"
    gate: "torch.Tensor"
    staging_rows: "torch.Tensor"

    def layer_slice(self, table: "torch.Tensor", layer: int) -> "torch.Tensor":
        """Look at a layer's keys of a table."""
        return table.view(self.num_layers, self.num_experts)[layer]


def allocate_global_tables(
    device: "torch.device", num_experts: int, slots_per_layer: "Sequence[int]", staging: int
) -> GlobalTables:
    """Make tables in which the first experts of each layer have its rows."""
    import torch  # noqa: PLC0415 - upstream's files are read where there is none

    layers, pool = len(slots_per_layer), sum(slots_per_layer)
    if staging < 1 or not all(0 < slots < num_experts for slots in slots_per_layer):
        raise ValueError(f"{slots_per_layer} of {num_experts} experts, {staging} rows to stage in")
    hot = torch.full((layers, num_experts), NOBODY, dtype=torch.int32)
    cold = torch.arange(num_experts, dtype=torch.int32).expand(layers, -1).clone()
    owners = torch.full((pool + staging,), NOBODY, dtype=torch.int32)
    first = 0
    for layer, slots in enumerate(slots_per_layer):
        hot[layer, :slots] = torch.arange(first, first + slots)
        cold[layer, :slots] = NOBODY
        owners[first : first + slots] = layer * num_experts + torch.arange(slots)
        first += slots
    return GlobalTables(
        num_layers=layers,
        num_experts=num_experts,
        pool_rows=pool,
        hot_phys=hot.reshape(-1).to(device),
        cold_phys=cold.reshape(-1).to(device),
        row_key=owners.to(device),
        gate=torch.zeros(1, dtype=torch.int32, device=device),
        staging_rows=torch.arange(pool, pool + staging, dtype=torch.int32, device=device),
    )


def set_gate(tables: GlobalTables, enabled: bool) -> None:  # noqa: FBT001 - upstream's
    """Let a planner move rows, or not."""
    tables.gate.fill_(int(enabled))


def check_global_tables(tables: GlobalTables) -> None:
    """See that every key has one place, and every row that is taken says whose it is.

    Raises:
        AssertionError: One has not.
    """
    hot, cold, owners = (
        each.tolist() for each in (tables.hot_phys, tables.cold_phys, tables.row_key)
    )
    taken = {row: key for key, row in enumerate(hot) if row != NOBODY}
    faults = [
        *(
            f"key {k} is in two places or none"
            for k, r in enumerate(hot)
            if (r < 0) == (cold[k] < 0)
        ),
        *(
            f"key {k} has another's host row"
            for k, r in enumerate(cold)
            if r not in {NOBODY, k % tables.num_experts}
        ),
        *(f"row {r} is not its key's" for r, k in enumerate(owners) if taken.get(r, NOBODY) != k),
        *(f"row {r} is not in the pool" for r in taken if not r < tables.pool_rows),
    ]
    if faults or len(taken) != sum(row != NOBODY for row in hot):
        raise AssertionError(", ".join(faults) or "two keys have one row")
