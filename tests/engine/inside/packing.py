"""Has MXFP4 experts repacked on any CPU, for a load that ends before one of them is asked.

vLLM repacks them by an op that only its builds for AVX512 have, and asks for AMX besides.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch
from vllm.model_executor.layers.fused_moe.experts.cpu_moe import CPUExpertsMxfp4

OPS = ("convert_weight_packed", "convert_scale_packed")


@contextmanager
def repacked() -> Iterator[None]:
    """Take the gate away while the block runs; where there is no op, one that copies stands in."""
    library = torch.library.Library("_C", "FRAGMENT")
    for op in OPS:
        if not hasattr(torch.ops._C, op):  # noqa: SLF001 - vLLM's own namespace
            library.define(f"{op}(Tensor raw) -> Tensor")
            library.impl(op, torch.clone, "CPU")
    with patch.object(CPUExpertsMxfp4, "_supports_current_device", staticmethod(lambda: True)):
        yield
