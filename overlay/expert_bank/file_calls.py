# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The system calls on mapped files and on locks that Python does not offer; each raises OSError."""

import ctypes
import mmap
import os

from expert_bank.libc import FAILED, LIBC, checked
from expert_bank.pages import page_bytes, whole_pages
from expert_bank.system_calls import reserve, unmap

MAP_FIXED = 0x10
MLOCK_ONFAULT = 1
STATFS_WORDS = 32


def map_file(address: int, length: int, file: int, offset: int) -> None:
    """Map a part of a file over reserved space, shared; all of it page-aligned."""
    allowed, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | MAP_FIXED
    checked(LIBC.mmap(address, length, allowed, flags, file, offset), failed=FAILED, call="mmap")


def advise(address: int, length: int, advice: int) -> None:
    """Tell the kernel how a page-aligned range is used, by one of ``mmap``'s ``MADV_`` numbers."""
    checked(LIBC.madvise(address, length, advice), failed=-1, call="madvise")


def in_memory(address: int, length: int) -> int:
    """Count the bytes of a page-aligned range that are in memory; of a file, in the page cache."""
    page = page_bytes()
    pages = (ctypes.c_ubyte * (whole_pages(length, page) // page))()
    checked(LIBC.mincore(address, length, pages), failed=-1, call="mincore")
    # Only the lowest bit of each is said to mean anything.
    mask = int.from_bytes(b"\1" * len(pages))
    return page * (int.from_bytes(bytes(pages)) & mask).bit_count()


def lock(address: int, length: int) -> None:
    """Bring a range into memory, and keep it there until it is unmapped."""
    checked(LIBC.mlock(address, length), failed=-1, call="mlock")


def try_lock(length: int) -> None:
    """Ask whether so many bytes could be locked now; takes no memory."""
    address = reserve(length)
    try:
        asked = ctypes.c_void_p(address), ctypes.c_size_t(length), MLOCK_ONFAULT
        checked(LIBC.mlock2(*asked), failed=-1, call="mlock2")
    finally:
        unmap(address, length)


def file_system(file: int) -> int:
    """Tell the kind of file system that an open file is on, by its number in ``statfs``."""
    found = (ctypes.c_long * STATFS_WORDS)()
    checked(LIBC.fstatfs(file, found), failed=-1, call="fstatfs")
    # 32 bits of it; some kinds have the highest one.
    return found[0] & 0xFFFF_FFFF


def room(file: int) -> int:
    """Tell how many bytes a file's system has left for this user."""
    found = os.fstatvfs(file)
    return found.f_bavail * found.f_frsize
