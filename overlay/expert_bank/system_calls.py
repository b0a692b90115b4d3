# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The system calls on memory that Python does not offer; each raises OSError.

Python's own ``mmap`` would serve but for two things: its object unmaps when a forked child drops
it, whatever lies at that address there by then; and its ``close`` does not see torch's tensors.
"""

import ctypes
import errno
import mmap
import os
import platform

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)
_LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_LIBC.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_LIBC.syscall.restype = ctypes.c_long

FAILED = ctypes.c_void_p(-1).value
NOTHING = 0  # PROT_NONE
MBIND = {"x86_64": 237, "aarch64": 235}
MPOL_BIND = 2
MPOL_MF_STRICT = 1
WORD = 64


def checked(result: int | None, *, failed: int | None, call: str) -> int:
    """Give a call's result back, or raise what it failed with."""
    if result is None or result == failed:
        code = ctypes.get_errno()
        raise OSError(code, f"{call}: {os.strerror(code)}")
    return result


def reserve(length: int) -> int:
    """Reserve private address space that nothing may touch yet; its address."""
    found = _LIBC.mmap(None, length, NOTHING, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    return checked(found, failed=FAILED, call="mmap")


def make_usable(address: int, length: int) -> None:
    """Let reserved space be read and written; here the kernel checks that it can promise it."""
    found = _LIBC.mprotect(address, length, mmap.PROT_READ | mmap.PROT_WRITE)
    checked(found, failed=-1, call="mprotect")


def leave_out_of_forks(address: int, length: int) -> None:
    """Let a forked child have nothing at these addresses."""
    checked(
        _LIBC.madvise(address, length, mmap.MADV_DONTFORK),
        failed=-1,
        call="madvise(MADV_DONTFORK)",
    )


def unmap(address: int, length: int) -> None:
    """Give address space and its memory back."""
    checked(_LIBC.munmap(address, length), failed=-1, call="munmap")


def mbind(address: int, length: int, node: int) -> None:
    """Let the pages of a range come from one NUMA node only; EIO where some already do not."""
    number = MBIND.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, f"mbind: not known for {platform.machine()}")
    words = node // WORD + 1
    mask = (ctypes.c_uint64 * words)()
    mask[node // WORD] = 1 << node % WORD
    found = _LIBC.syscall(
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
