# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What our hook patch puts in the place of the copies of vLLM's prefetching offloader."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from expert_bank.staging.batched import BatchedCopy
from expert_bank.staging.onload import Onload, Pair


@cache
def batches() -> Onload:
    """Give the one of this process."""
    # Not before the first copy: vLLM is still being imported when it imports this module.
    from expert_bank.glue.side_stream import submit  # noqa: PLC0415

    capturing = torch.cuda.is_current_stream_capturing
    return Onload(BatchedCopy(submit, capturing), capturing)


def onload(pairs: Sequence[Pair]) -> None:
    """Bring a layer's parameters into their static buffers, on the current stream.

    Args:
        pairs: Buffer on the device, storage on the host.
    """
    batches()(pairs)


def told() -> dict[str, Any]:
    """Tell what was copied here so far; see ``Onloaded``."""
    return batches().told()
