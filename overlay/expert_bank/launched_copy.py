# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A row of every tensor copied by one launch, for devices that Triton compiles for."""

from collections.abc import Sequence

import torch

from expert_bank.row_copy import RowCopies


class LaunchedCopy:
    """Copies an expert's row as ``swapping.plain_copy`` does, all of its tensors at once."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._by_sizes: dict[tuple[int, ...], RowCopies] = {}

    def __call__(self, to: Sequence[torch.Tensor], source: Sequence[torch.Tensor]) -> None:
        """Copy, and wait until it is done.

        Args:
            to: A row of each tensor, contiguous, readable by the device.
            source: The same; none of them is written.

        Raises:
            RuntimeError: Other than all bytes were copied.
        """
        sizes = tuple(each.nbytes for each in source)
        if sizes != tuple(each.nbytes for each in to):
            raise RuntimeError(f"rows of {sizes} bytes do not fit {[each.nbytes for each in to]}")
        copies = self._by_sizes.get(sizes)
        if copies is None:
            copies = self._by_sizes[sizes] = RowCopies(sizes, rows=1, device=self.device)
        for addresses, rows in ((copies.destinations, to), (copies.sources, source)):
            addresses.copy_(torch.tensor([[each.data_ptr()] for each in rows]))
        copies.count.fill_(1)
        copies.run()
