# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One load of a model into two banks, layer by layer."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import torch
from vllm.model_executor.layers.fused_moe.fused_moe_method_base import FusedMoEMethodBase

from expert_bank.config import BankConfig
from expert_bank.glue.against import against_method, require
from expert_bank.glue.gathering import Gathering
from expert_bank.glue.layer_banks import LayerBanks
from expert_bank.glue.layer_load import LayerLoad
from expert_bank.glue.layout import Layout, lay_out
from expert_bank.glue.seams.choice import choice
from expert_bank.glue.serving import serve
from expert_bank.host_budget import host_budget
from expert_bank.poison import Poison
from expert_bank.refused import Refused
from expert_bank.two_bank import TwoBank

if TYPE_CHECKING:
    from expert_bank.glue.banked import BankedExperts


class Loading:
    """Gathers the layers of the model that is loaded, and fills a bank as each becomes whole.

    What is built once the first weight has come belongs to another model: a draft's experts stay
    resident.

    Attributes:
        layers: In the order they were built.
        resident: Names of layers that were built after the first weight came.
        told: Called with each line for people.
        seams: Whose code serves the banks' table, copies and host rows.
        banks: Of the layers that are whole.
        built: Modules that were given parameters so far.
        layout: Which rows the banks have; from the first weight on.
        gathering: Layers that are loaded in part, and the plan; the same.
    """

    layout: Layout
    gathering: Gathering

    def __init__(self, config: BankConfig, worker: Any, told: Callable[[str], None]) -> None:  # noqa: ANN401 - vLLM's
        """Measure what host memory has left; nothing of the model is built.

        Args:
            config: What is asked for.
            worker: vLLM's worker.
            told: See ``Loading``.

        Raises:
            Refused: A seam's code is not as its adapter wants it, or as ``LayerBanks``.
        """
        self.config = config
        self.worker = worker
        self.device: torch.device = worker.device
        self.told = told
        self.built: Iterable[torch.nn.Module] = ()
        self.layers: list[BankedExperts] = []
        self.resident: list[str] = []
        self.seams = choice()
        self.banks = LayerBanks(config, self.device, self.seams)
        self._host = host_budget(node=self.banks.memory.node)
        self._begun = False

    def join(self, layer: "BankedExperts", method: FusedMoEMethodBase) -> LayerLoad | None:
        """Take a layer that is being built; None for one that stays resident.

        Raises:
            Refused: vLLM would quantise its weights as they come, by a loader of its own.
        """
        if self._begun:
            self.resident.append(layer.layer_name)
            return None
        require(against_method(layer, method))
        number = len(self.layers)
        self.layers.append(layer)
        return LayerLoad(
            layer,
            method,
            begin=lambda: self.gather(number),
            device=self.device,
            hand_on=lambda: self._fill(number),
        )

    def gather(self, number: int) -> None:
        """Stand before a layer's first weight, and before room for it is taken.

        Raises:
            Refused: As ``begin``, or there is no room for so many layers at once.
        """
        self.begin()
        self.gathering.begin(number, self.layers[number].layer_name)

    def tell(self, line: str) -> None:
        """Tell people whose line it is."""
        self.told(f"expert_bank: {line}")

    def begin(self) -> None:
        """Plan before the first row is loaded: the model is built, and nothing of it is there.

        Raises:
            Refused: The model cannot be kept in two banks, or not as it is asked for.
        """
        if self._begun:
            return
        self._begun = True
        self.tell(self.seams.line())
        self.layout = layout = lay_out(
            self.layers,
            self.config,
            self.worker,
            host=self._host,
            file=self.banks.file,
            built=self.built,
            tell=self.tell,
        )
        self.banks.lay_out(layout)
        self.gathering = Gathering(layout.plan, self.device, self.tell)
        self.table = self.seams.row_table(
            layout.hot, layout.experts, self.device, self.config.cold_rows
        )

    def whole(self, drain: Callable[[], None]) -> TwoBank:
        """Give the two banks once all layers are loaded.

        Raises:
            Refused: A layer is not.
        """
        missing = [each.layer_name for n, each in enumerate(self.layers) if n not in self.banks.of]
        if missing:
            raise Refused(f"never loaded: {', '.join(missing)}")
        two_bank = self.banks.two_bank(self.layout, self.table, drain)
        self.tell(self.gathering.told())
        for line in self.banks.prove():
            self.tell(line)
        if self.config.poison:
            Poison(two_bank.swapper)
        serve(self.layers, two_bank)
        return two_bank

    def _fill(self, number: int) -> None:
        """Move a layer's repacked rows into its banks."""
        self.banks.fill(number, self.layers[number], self.layout, self.table)
        self.gathering.end(number)
