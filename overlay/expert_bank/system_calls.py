# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The system calls on memory that Python does not offer; each raises OSError.

Python's own ``mmap`` would serve but for two things: its object unmaps when a forked child drops
it, whatever lies at that address there by then; and its ``close`` does not see torch's tensors.
"""

import ctypes
import errno
import mmap
import platform

from expert_bank.libc import FAILED, LIBC, checked

NOTHING = 0  # PROT_NONE
MBIND = {"x86_64": 237, "aarch64": 235}
MPOL_BIND = 2
MPOL_MF_STRICT = 1
WORD = 64


def reserve(length: int) -> int:
    """Reserve private address space that nothing may touch yet; its address."""
    found = LIBC.mmap(None, length, NOTHING, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    return checked(found, failed=FAILED, call="mmap")


def make_usable(address: int, length: int) -> None:
    """Let reserved space be read and written; here the kernel checks that it can promise it."""
    found = LIBC.mprotect(address, length, mmap.PROT_READ | mmap.PROT_WRITE)
    checked(found, failed=-1, call="mprotect")


def leave_out_of_forks(address: int, length: int) -> None:
    """Let a forked child have nothing at these addresses."""
    checked(
        LIBC.madvise(address, length, mmap.MADV_DONTFORK),
        failed=-1,
        call="madvise(MADV_DONTFORK)",
    )


def unmap(address: int, length: int) -> None:
    """Give address space and its memory back."""
    checked(LIBC.munmap(address, length), failed=-1, call="munmap")


def mbind(address: int, length: int, node: int) -> None:
    """Let the pages of a range come from one NUMA node only; EIO where some already do not."""
    number = MBIND.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, f"mbind: not known for {platform.machine()}")
    words = node // WORD + 1
    mask = (ctypes.c_uint64 * words)()
    mask[node // WORD] = 1 << node % WORD
    found = LIBC.syscall(
        ctypes.c_long(number),
        ctypes.c_void_p(address),
        ctypes.c_size_t(length),
        ctypes.c_long(MPOL_BIND),
        mask,
        # The kernel takes one off before it reads the mask.
        ctypes.c_ulong(words * WORD + 1),
        ctypes.c_long(MPOL_MF_STRICT),
    )
    checked(found, failed=-1, call="mbind")
