"""Holds DeepSeek-V4's ops that torch stands in with against vLLM's: ``dsv4_beside_vllm.py RESULT``.

All checks are skipped where vLLM's build has none of the ops.
"""

import dsv4_beside_attention as attention
import dsv4_beside_keys as keys
import dsv4_beside_mixing as mixing
import torch
from checks import tell
from dsv4_reference import NAMESPACE
from own_ops import own
from shims import _deepseek_v4_in_torch as stand_in
from shims import deepseek_v4_on_cpu as shim


def what_is_there_is_not_replaced() -> None:
    """Neither by the shim, nor by hand."""
    own(*shim.OPS)
    before = [torch._C._dispatch_dump(f"_C::{name}") for name in shim.OPS]  # noqa: SLF001
    shim.after_vllm()
    try:
        stand_in.register()
    except RuntimeError as error:
        assert "multiple times" in str(error)  # noqa: PT017 - no pytest in a lane's Python
    else:
        raise AssertionError
    assert before == [torch._C._dispatch_dump(f"_C::{name}") for name in shim.OPS]  # noqa: SLF001


CHECKS = (
    *attention.CHECKS,
    *keys.CHECKS,
    *mixing.CHECKS,
    what_is_there_is_not_replaced,
)


if __name__ == "__main__":
    stand_in.register(NAMESPACE)
    tell(CHECKS)
