# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The banks of a model that is loaded, one layer after the other, and what they are made of."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import torch

from expert_bank.bank import LayerBank, placed
from expert_bank.config import BankConfig
from expert_bank.counter import PickCounter
from expert_bank.file_allocation import ReadAhead
from expert_bank.filling import fill
from expert_bank.glue.allocating import allocate_on, cold_file
from expert_bank.glue.layout import Layout
from expert_bank.glue.reading import floor, reader
from expert_bank.glue.row_tensors import require_own, row_tensors, serve_from
from expert_bank.glue.seams.choice import Seams
from expert_bank.glue.side_stream import SideStream
from expert_bank.plan import cold_rows
from expert_bank.row_sums import tensor_sums
from expert_bank.staging.making import stage
from expert_bank.staging.pool import StagedAllocation
from expert_bank.staging.room import require_stageable
from expert_bank.table import Table
from expert_bank.two_bank import TwoBank

if TYPE_CHECKING:
    from expert_bank.glue.banked import BankedExperts


class LayerBanks:
    """Banks by the number of their layer.

    Attributes:
        of: Those that are filled.
        memory: Where their host memory comes from.
        file: Where the cold rows go; None where that is host memory.
        allocate: Makes a layer's row tensors.
    """

    def __init__(self, config: BankConfig, device: torch.device, seams: Seams) -> None:
        """Find host memory and, where it is asked for, the folder of the cold rows' file.

        Args:
            config: What is asked for.
            device: That serves.
            seams: Whose code serves host rows and copies.

        Raises:
            Refused: No node will do, or no folder, or the device reads no file.
        """
        self._config, self._device, self._seams = config, device, seams
        self.of: dict[int, LayerBank] = {}
        self._sums: dict[int, torch.Tensor] = {}
        self.memory = seams.host_rows(device, config.node)
        self.file = cold_file(config, device)
        require_stageable(config.prefill_stage, config.cold_rows)
        self.allocate = allocate_on(device, self.file)

    def lay_out(self, layout: Layout) -> None:
        """Take what was decided before the first row is loaded."""
        stage = layout.stage
        if stage is not None and not stage.off:
            self.allocate = allocate_on(self._device, self.file, stage.rows)

    def fill(self, number: int, layer: "BankedExperts", layout: Layout, table: Table) -> None:
        """Move a layer's repacked rows into its banks, and let it be served from there.

        Raises:
            Refused: Its rows are not its own, or there is no memory for them.
        """
        hot, mode = layout.hot[number], self._config.cold_rows
        require_own(layer, self.of.values())
        found = row_tensors(layer)
        cold = cold_rows(layout.experts, hot, mode)
        shapes = {name: (each.dtype, each.shape[1:]) for name, each in found.items()}
        row = sum(each[0].nbytes for each in found.values())
        with self.memory.of_layer(layer.layer_name, self._on_host(hot, cold) * row):
            tensors = self.allocate(shapes, hot, cold, self.memory)
        ahead = None if self.file is None else ReadAhead(self.file, tensors)
        bank = LayerBank(layer.layer_name, layout.experts, mode, tensors, ahead)
        banks, rows = placed(layout.map[number], layout.experts, mode)
        table.fill(number, banks, rows)
        repacked = list(found.values())
        fill(bank, repacked, list(zip(banks, rows, strict=True)))
        if self.file is not None:
            self.file.settle()
        self._sums[number] = tensor_sums(repacked)
        self.of[number] = bank
        serve_from(layer, bank)

    def _on_host(self, hot: int, cold: int) -> int:
        """How many of a layer's rows are in host memory: a device has the hot ones, a file the cold."""
        return (hot if self._device.type == "cpu" else 0) + (cold if self.file is None else 0)

    def two_bank(self, layout: Layout, table: Table, drain: Callable[[], None]) -> TwoBank:
        """Put the banks of all layers together; every one is filled."""
        numbers = sorted(self.of)
        counter = PickCounter(
            [self.of[n].name for n in numbers],
            experts=layout.experts,
            picks_per_token=layout.picks,
            device=self._device,
            banks=2,
        )
        made = TwoBank(
            [self.of[n] for n in numbers],
            table,
            counter,
            [self._sums[n] for n in numbers],
            drain,
            self._seams.row_copy,
            self._seams.used,
        )
        made.file = self.file
        if layout.stage is not None:
            side = None if self._device.type == "cpu" else SideStream(self._device)
            poison, block = self._config.poison, layout.block
            stage(made, layout.stage, poison=poison, block=block, side=side)
        made.kept = (self.memory, self.allocate)
        return made

    def prove(self) -> Iterator[str]:
        """Yield what is proven of the memory that the rows are in.

        Raises:
            Refused: It is not where, or not as fast, as it must be.
        """
        if self.memory.mappings:
            read = reader(self.memory, self._device)
            least = floor(self._device, self._config.read_floor)
            yield from self.memory.prove(read, floor=least)
        if self.file is not None:
            yield self.file.prove()
        if isinstance(self.allocate, StagedAllocation) and self.allocate.pool is not None:
            yield self.allocate.pool.prove()
