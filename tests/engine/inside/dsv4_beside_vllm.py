"""Holds DeepSeek-V4's ops that torch stands in with against vLLM's: ``dsv4_beside_vllm.py RESULT``.

All checks are skipped where vLLM's build has none of the ops.
"""

import dsv4_beside_attention as attention
import dsv4_beside_keys as keys
import dsv4_beside_mixing as mixing
from checks import tell
from dsv4_reference import NAMESPACE
from own_ops import require_kept
from shims import _deepseek_v4_in_torch as stand_in
from shims import deepseek_v4_on_cpu as shim


def what_is_there_is_not_replaced() -> None:
    """Neither by the shim, nor by hand."""
    require_kept(shim.OPS, shim.after_vllm, stand_in.register)


CHECKS = (
    *attention.CHECKS,
    *keys.CHECKS,
    *mixing.CHECKS,
    what_is_there_is_not_replaced,
)


if __name__ == "__main__":
    stand_in.register(NAMESPACE)
    tell(CHECKS)
