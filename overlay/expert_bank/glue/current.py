# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The load that runs, if one does: layers that are built find it here."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vllm.model_executor.layers.fused_moe.fused_moe_method_base import FusedMoEMethodBase

from expert_bank.glue.built import building
from expert_bank.glue.layer_load import LayerLoad
from expert_bank.glue.loading import Loading

if TYPE_CHECKING:
    from expert_bank.glue.banked import BankedExperts

_current: list[Loading] = []


@contextmanager
def loading(load: Loading) -> Iterator[None]:
    """Have the layers that are built while the block runs join a load."""
    _current.append(load)
    try:
        with building() as load.built:
            yield
    finally:
        _current.remove(load)


def join(layer: "BankedExperts", method: FusedMoEMethodBase) -> LayerLoad | None:
    """Join the load that runs, if one does."""
    return _current[-1].join(layer, method) if _current else None
