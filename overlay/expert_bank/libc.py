# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The C library, for the system calls that Python does not offer."""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    # off_t, on the 64-bit machines that vLLM runs on.
    ctypes.c_int64,
)
LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
LIBC.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
LIBC.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
LIBC.mlock.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
LIBC.fstatfs.argtypes = (ctypes.c_int, ctypes.c_void_p)
LIBC.syscall.restype = ctypes.c_long

# What mmap answers with.
FAILED = ctypes.c_void_p(-1).value


def checked(result: int | None, *, failed: int | None, call: str) -> int:
    """Give a call's result back, or raise what it failed with.

    Raises:
        OSError: It failed.
    """
    if result is None or result == failed:
        code = ctypes.get_errno()
        raise OSError(code, f"{call}: {os.strerror(code)}")
    return result
