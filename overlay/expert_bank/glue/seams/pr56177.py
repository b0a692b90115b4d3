# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Row table and row copies of vllm #56177, a shared pool of expert rows.

Of its table the pool's tensors are used, and of its copies the launch that reads a count on the
device; its planner stays out, and its gate closed: which rows are hot is decided between forwards.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from expert_bank.glue.seams.kinds import MakeTable
from expert_bank.glue.seams.symbols import Symbols
from expert_bank.plan import Mode, mirrored
from expert_bank.refused import Refused
from expert_bank.seams import Used
from expert_bank.swapping import Copy, CopyError, Rows
from expert_bank.table import Table
from expert_bank.table_layout import BANK, COLD, GENERATION, HOT, ROW

PACKAGE = "vllm.model_executor.layers.fused_moe.expert_pool"
TABLES = "#56177's expert_pool/tables.py as of vllm commit 18b05be77fa1"
COPIES = "#56177's expert_pool/copy.py as of vllm commit 4b545d9ce11e"
# Its planner wants at least one row to stage a miss in; nothing is ever staged here.
STAGING = 1
WORD_BYTES = 4


def row_table(used: Used) -> MakeTable:
    """Keep the entries in the pool's own tables."""
    theirs = Symbols(used, f"{PACKAGE}.tables", TABLES)
    theirs.fields("GlobalTables", "hot_phys", "cold_phys", "row_key")
    view = theirs.function("GlobalTables.layer_slice", "self", "table", "layer")
    allocate = theirs.function(
        "allocate_global_tables", "device", "num_experts", "slots_per_layer", "staging"
    )
    set_gate = theirs.function("set_gate", "tables", "enabled")
    check = theirs.function("check_global_tables", "tables")

    def make(hot: Sequence[int], experts: int, device: torch.device, mode: Mode) -> Table:
        if not mirrored(mode) or not all(0 < rows < experts for rows in hot):
            raise Refused(
                f"{used.seam} from #{used.source}: its table keeps every expert's host row, and in"
                f" each layer some hot rows and not all; asked were moe_cold_rows {mode} and"
                f" moe_hot_experts {sorted(set(hot))} of {experts}",
                hint="use moe_cold_rows mirror and fewer moe_hot_experts, or our own RowTable",
            )
        pool = allocate(device, experts, list(hot), STAGING)
        set_gate(pool, False)  # noqa: FBT003 - their signature
        return PoolTable(hot, experts, device, pool, used.counted(view), check)

    return make


class PoolTable(Table):
    """A table whose entries are the pool's: what a forward reads is read out of them.

    The pool numbers all layers' hot rows in one row, layer by layer.

    Attributes:
        pool: Theirs.
    """

    def __init__(
        self,
        hot: Sequence[int],
        experts: int,
        device: torch.device,
        pool: Any,  # noqa: ANN401 - theirs
        view: Callable[..., Any],
        check: Callable[..., Any],
    ) -> None:
        super().__init__(hot, experts, device)
        self.pool = pool
        self._view = view
        self._check = check
        self._first = list(accumulate(hot, initial=0))

    def write_entry(self, layer: int, expert: int) -> None:  # noqa: ARG002 - all of the layer is one write
        """Bring an entry to the pool, and from there to where forwards read it."""
        self.write_layer(layer)

    def write_layer(self, layer: int) -> None:
        """Bring a layer's entries to the pool, and from there to where forwards read them."""
        state, first, hot = self.host[layer], self._first[layer], self.hot[layer]
        is_hot, experts = state[BANK] == HOT, state.shape[1]
        owners = np.full(hot, -1, np.int32)
        owners[state[ROW][is_hot]] = layer * experts + np.flatnonzero(is_hot)
        rows = np.where(is_hot, state[ROW] + first, -1), np.where(is_hot, -1, state[ROW])
        theirs = *self._maps(layer), self.pool.row_key[first : first + hot]
        for target, values in zip(theirs, (*rows, owners), strict=True):
            target.copy_(torch.from_numpy(values.astype(np.int32)))
        self.device[layer].copy_(self._read(layer))

    def agrees(self) -> bool:
        """Tell whether the device's entries are the host's, and the pool is whole by its own check."""
        try:
            self._check(self.pool)
        except (AssertionError, RuntimeError):
            return False
        return super().agrees()

    def _maps(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Give a layer's hot and cold rows in the pool, int32[E] each."""
        pool = self.pool
        return self._view(pool, pool.hot_phys, layer), self._view(pool, pool.cold_phys, layer)

    def _read(self, layer: int) -> torch.Tensor:
        """Give int32[4, E] by what the pool has, on the device; the pool has no generations."""
        hot, cold = self._maps(layer)
        banks = torch.where(hot < 0, COLD, HOT)
        rows = torch.where(hot < 0, cold, hot - self._first[layer])
        generations = torch.from_numpy(self.host[layer, GENERATION].copy()).to(rows.device)
        return torch.stack([banks, rows, generations, rows + self.hot[layer] * banks]).int()


def row_copy(used: Used) -> Copy:
    """Copy a row of every tensor by their launch, as many tensors at a time as it takes."""
    theirs = Symbols(used, f"{PACKAGE}.copy", COPIES)
    launch = used.counted(
        theirs.function("copy_rows", "source", "destination", "src_rows", "dst_rows", "count")
    )
    names = theirs.value("TENSORS", "TENSORS, the names of the tensors that are copied together")

    def copy(to: Rows, source: Rows) -> None:
        for at in range(0, len(to), len(names)):
            _launch(launch, names, to[at : at + len(names)], source[at : at + len(names)])

    return copy


def _launch(launch: Callable[..., Any], names: Sequence[str], to: Rows, source: Rows) -> None:
    """Copy row 0 to row 0 of tensors with one row each; a word stands where there is no tensor."""
    device = to[0].device
    given = []
    for rows in (source, to):
        unused = [torch.zeros(1, dtype=torch.int32, device=device) for _ in names[len(rows) :]]
        given.append({n: each[None] for n, each in zip(names, (*rows, *unused), strict=True)})
    if odd := [each.nbytes for each in to if each.nbytes % WORD_BYTES]:
        raise CopyError(
            f"a row of {odd[0]} bytes is no whole number of words, as #56177 copies them"
        )
    first = torch.zeros(1, dtype=torch.int32, device=device)
    try:
        launch(*given, first, first, torch.ones_like(first))
    except ValueError as error:
        raise CopyError(f"#56177 does not copy these rows: {error}") from error
