# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What an adapter gives for each seam."""

from collections.abc import Callable, Sequence

import torch

from expert_bank.host_memory import HostMemory
from expert_bank.plan import Mode
from expert_bank.table import Table

# Of H of each layer, E, the device, and how the cold rows are kept.
MakeTable = Callable[[Sequence[int], int, torch.device, Mode], Table]
# Of the device, and the number of the node that the run names.
MakeHostRows = Callable[[torch.device, int | None], HostMemory]
