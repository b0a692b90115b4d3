# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""vLLM's repack of MXFP4 experts, held to a part of a layer at a time.

As a whole it holds the raw layer, the repacked one, and w13 once more between the two.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.fused_moe_method_base import FusedMoEMethodBase
from vllm.model_executor.layers.fused_moe.oracle.mxfp4 import TRTLLM_BACKENDS
from vllm.model_executor.layers.quantization import mxfp4
from vllm.model_executor.layers.quantization.mxfp4 import GptOssMxfp4MoEMethod, Mxfp4MoEMethod

from expert_bank.in_parts import Rows, in_parts

ROWS = ("w13_weight", "w2_weight", "w13_weight_scale", "w2_weight_scale", "w13_bias", "w2_bias")


def repacks_in_parts(method: FusedMoEMethodBase) -> bool:
    """Tell whether a method repacks by the calls that ``in_parts_on`` holds to parts.

    Other kernels' repacks look at the layer rather than at the rows they are given.
    """
    if not isinstance(method, (Mxfp4MoEMethod, GptOssMxfp4MoEMethod)):
        return False
    return method.mxfp4_backend in TRTLLM_BACKENDS


@contextmanager
def in_parts_on(device: torch.device) -> Iterator[None]:
    """Have layers whose raw rows are in host memory repacked on a device, while the block runs."""
    of_any = mxfp4.convert_weight_to_mxfp4_moe_kernel_format
    of_gpt_oss = mxfp4.convert_gpt_oss_weight_to_mxfp4_moe_kernel_format
    mxfp4.convert_weight_to_mxfp4_moe_kernel_format = partial(_convert, of_any, device)
    mxfp4.convert_gpt_oss_weight_to_mxfp4_moe_kernel_format = partial(_convert, of_gpt_oss, device)
    try:
        yield
    finally:
        mxfp4.convert_weight_to_mxfp4_moe_kernel_format = of_any
        mxfp4.convert_gpt_oss_weight_to_mxfp4_moe_kernel_format = of_gpt_oss


def _convert(convert: Any, device: torch.device, **given: Any) -> Rows:  # noqa: ANN401 - vLLM's
    rows = {name: given.pop(name) for name in ROWS if given.get(name) is not None}
    absent = {name: given.pop(name) for name in ROWS if name in given}
    return in_parts(convert, rows, device, **absent, **given)
