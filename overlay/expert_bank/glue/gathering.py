# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Layers that wait raw in host memory for the rest of their weights, and what the plan makes of it."""

from collections.abc import Callable

import torch

from expert_bank.fits import require_fits
from expert_bank.glue.planning import with_waiting
from expert_bank.plan import Plan
from expert_bank.refused import Refused
from expert_bank.sizes import told


class Gathering:
    """Keeps a plan true where a checkpoint has the weights of a layer in several places.

    Where it has them together, one layer waits at a time, as the plan has it.

    Attributes:
        plan: Made again for each layer more that waits while others do.
    """

    def __init__(self, plan: Plan, device: torch.device, tell: Callable[[str], None]) -> None:
        self.plan = plan
        self._device = device
        self._tell = tell
        self._waiting: set[int] = set()

    def begin(self, number: int, name: str) -> None:
        """Stand before a layer's first weight, and before room for it is taken.

        Args:
            number: Of the layer.
            name: The same, for people.

        Raises:
            Refused: There is no room for so many layers at once.
        """
        self._waiting.add(number)
        if len(self._waiting) <= self.plan.waiting:
            return
        self.plan = with_waiting(self.plan, len(self._waiting), self._device)
        line = f"{name} begins while others wait for the rest of their weights: {self.told()}"
        self._tell(line)
        try:
            require_fits(self.plan, on_cpu=self._device.type == "cpu")
        except Refused as error:
            raise Refused(f"{line}\n{error.message}", hint=error.hint) from None

    def end(self, number: int) -> None:
        """Note that a layer's rows are in the banks."""
        self._waiting.remove(number)

    def told(self) -> str:
        """Tell the most that waited so far."""
        plan = self.plan
        return (
            f"at most {plan.waiting} of {len(plan.layers)} layers raw at once, {told(plan.gathered)}"
            f" of host memory while loading; with the cold bank {told(plan.host_peak)}"
        )
