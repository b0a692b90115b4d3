# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Keeps the residual stream as it enters each layer, before attention."""

import inspect
import re
from collections.abc import Sequence
from typing import Any

import torch

from expert_bank.refused import Refused

_LAYER = re.compile(r"(?:.+\.)?layers\.[0-9]+(?=\.)", re.ASCII)
_HINT = "record without hidden states"


def hidden_size(vllm_config: Any) -> int:  # noqa: ANN401 - vLLM's
    """Tell h, or why hidden states are not kept here.

    Raises:
        Refused: Layers are compiled, and a hook of theirs with them.
    """
    if not vllm_config.model_config.enforce_eager:
        raise Refused(
            "EXPERT_BANK_RECORD_HIDDEN: hidden states are kept in an eager engine alone",
            hint="start it with enforce_eager",
        )
    size: int = vllm_config.model_config.get_hidden_size()
    return size


def keep_hidden(model: torch.nn.Module, names: Sequence[str], kept: torch.Tensor) -> None:
    """Have a model's layers keep what they are given.

    Args:
        model: Is loaded, and runs eagerly.
        names: Of the L modules of experts; each is within a layer named ``...layers.<number>``.
        kept: float16[L, M, h], written in place; what float16 cannot hold becomes its largest.

    Raises:
        Refused: A layer is not found, or takes no ``hidden_states``.
    """
    modules = dict(model.named_modules())
    for number, name in enumerate(names):
        found = _LAYER.match(name)
        # The names of experts are those of the served model, which may be wrapped.
        layer = modules.get(found[0]) if found else None
        if layer is None or "hidden_states" not in inspect.signature(layer.forward).parameters:
            raise Refused(
                f"EXPERT_BANK_RECORD_HIDDEN: {name} is in no layer that takes hidden_states",
                hint=_HINT,
            )
        layer.register_forward_pre_hook(_keeps(kept[number]), with_kwargs=True)


def _keeps(kept: torch.Tensor) -> Any:  # noqa: ANN401 - torch's own hooks
    most = torch.finfo(torch.float16).max

    def hook(layer: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = inspect.signature(layer.forward).bind_partial(*args, **kwargs).arguments
        stream = given["hidden_states"]
        if (residual := given.get("residual")) is not None:
            stream = stream + residual
        kept[: stream.shape[0]].copy_(stream.clamp(-most, most))

    return hook
