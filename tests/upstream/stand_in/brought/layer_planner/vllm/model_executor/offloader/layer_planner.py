# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which layers to copy ahead, given what one copy and one step of a layer take."""

from .layer_slab import Slab


def ahead(copy_us: float, step_us: float, layers: int) -> int:
    """How many layers ahead a copy must begin so that no layer waits; at most all of them."""
    if step_us <= 0:
        return layers
    return min(layers, int(-(-copy_us // step_us)))


def schedule(layers: int, distance: int, slab: Slab) -> list[tuple[int, int]]:
    """Per layer that runs, the layer whose copy begins with it and the slab's place for it."""
    return [
        ((layer + distance) % layers, slab.place((layer + distance) % layers))
        for layer in range(layers)
    ]
