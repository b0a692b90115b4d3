# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A repack of a layer's rows, some experts at a time."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

# A part's raw rows, its repacked ones and all between them are alive at once: less than a layer raw
# where a part is no more than a quarter of it.
EXPERTS, PARTS = 16, 4

Rows = tuple[torch.Tensor | None, ...]


def in_parts(  # noqa: D417 - what else the repack is given is told with it
    repack: Callable[..., Rows],
    rows: Mapping[str, torch.Tensor],
    device: torch.device,
    **rest: Any,  # noqa: ANN401 - whatever else the repack is given
) -> Rows:
    """Repack rows that lie in host memory, on the device.

    Beside the repacked layer, no more is on the device than a part's raw rows and what the repack
    makes of them.

    Args:
        repack: Is called with a part of every row tensor and with ``rest``, by name; every tensor
            that it gives has a row of each expert of the part, which no other expert changes.
        rows: [E, ...] by the argument's name.
        device: Where to.

    Returns:
        What ``repack`` gives, of all experts.

    Raises:
        RuntimeError: It gives a tensor that has other rows than the part's.
    """
    experts = {len(each) for each in rows.values()}
    if len(experts) != 1:
        raise RuntimeError(f"rows of {sorted(experts)} experts cannot be repacked together")
    (count,) = experts
    most = max(1, min(EXPERTS, count // PARTS))
    whole: Rows = ()
    for start in range(0, count, most):
        part = {name: each[start : start + most].to(device) for name, each in rows.items()}
        done = repack(**part, **rest)
        size = min(most, count - start)
        if not whole:
            whole = tuple(_room(each, size, count) for each in done)
        for ours, each in zip(whole, done, strict=True):
            if ours is not None and each is not None:
                ours[start : start + size].copy_(each)
        del part, done
    return whole


def _room(part: torch.Tensor | None, size: int, count: int) -> torch.Tensor | None:
    """Allocate what all experts' rows take."""
    if part is None:
        return None
    if len(part) != size:
        raise RuntimeError(f"{size} experts are repacked to {tuple(part.shape)}, no row of each")
    return part.new_empty((count, *part.shape[1:]))
