# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What gives the table that a layer's picks are mapped by, where steps may be staged.

By the address of the layer's own table: compiled code gives an op that and no layer. Nothing here keeps
banks: they go with the engine that has them.
"""

from collections.abc import Callable

import torch

# None once nothing is staged any more.
Find = Callable[[], torch.Tensor | None]
finds: dict[int, Find] = {}


def table_now(table: torch.Tensor) -> torch.Tensor:
    """Give the table by which picks are mapped in this step, int32[4, E]."""
    find = finds.get(table.data_ptr())
    found = None if find is None else find()
    return table if found is None else found
