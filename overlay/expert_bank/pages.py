# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Host memory of exactly the size that was asked for."""

import ctypes
import os
import sys
import weakref
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from expert_bank import system_calls
from expert_bank.refused import Refused
from expert_bank.sizes import told

if TYPE_CHECKING:
    import torch


def page_bytes() -> int:
    """Ask the system for its page size: 4 KiB on x86-64; 4, 16 or 64 KiB on Arm."""
    return os.sysconf("SC_PAGE_SIZE")


def whole_pages(length: int, page: int) -> int:
    """Round bytes up to whole pages and no further."""
    return -(-length // page) * page


class _Use:
    """Keeps a mapping: what views of it are made of holds one."""

    def __init__(self, mapping: "HostPages") -> None:
        self.mapping = mapping


class HostPages:
    """An anonymous mapping, zero-filled, whose pages come at their first touch.

    torch's pinned allocator rounds a block up to a power of two (vLLM #58178); this rounds to one
    page. A page on either side that may not be touched keeps neighbours from being merged into
    it, so that the kernel's own figures of a mapping are this one's alone; it holds no memory.

    A forked child does not get the mapping: once a device has pinned the pages, Linux copies
    every one of them at the fork (or, before 5.12, could take them from under the device), which
    for a bank is hundreds of GiB for a child that reads none of it. A child that reads a view dies
    of SIGSEGV; dropping the object there does nothing.

    Attributes:
        address: Of the first byte, page-aligned.
        asked: Bytes that were asked for.
        size: Bytes mapped: ``asked`` in whole pages.
        held: Bytes of it, from its start on, that are this memory; the rest is a file's.
    """

    def __init__(self, length: int, held: int | None = None) -> None:
        """Map memory.

        Args:
            length: Bytes, at least one.
            held: See ``HostPages``; all, unless given in whole pages.

        Raises:
            Refused: The system does not give that much address space.
            ValueError: The length is none.
        """
        page = page_bytes()
        self.asked, self.size = length, whole_pages(length, page)
        self.held = self.size if held is None else held
        whole = self.size + 2 * page
        if length < 1 or whole > sys.maxsize:
            raise ValueError(f"a mapping cannot have {length} bytes")
        try:
            base = system_calls.reserve(whole)
        except OSError as error:
            raise _refused(self.size, error) from None
        self.address = base + page
        self._owner = os.getpid()
        self._uses: weakref.WeakSet[_Use] = weakref.WeakSet()
        self._unmap = weakref.finalize(self, _unmap, base, whole, self._owner)
        # Tensors may outlive everything else while an interpreter ends.
        self._unmap.atexit = False
        try:
            system_calls.leave_out_of_forks(base, whole)
            if self.held:
                system_calls.make_usable(self.address, self.held)
        except OSError as error:
            self.close()
            raise _refused(self.size, error) from None

    @property
    def closed(self) -> bool:
        """Whether the memory was given back."""
        return not self._unmap.alive

    def view(self, offset: int = 0, length: int | None = None) -> memoryview:
        """Look at bytes of the mapping; it and all made of it keep the mapping.

        Args:
            offset: Of the first byte.
            length: Bytes; to the end of what was asked for unless given.

        Raises:
            ValueError: The bytes are not all within what was asked for, or the mapping is not
                here any more.
        """
        length = self.asked - offset if length is None else length
        if offset < 0 or length < 0 or offset + length > self.asked:
            raise ValueError(f"{length} bytes from {offset} on are not within {self.asked}")
        if self.closed or os.getpid() != self._owner:
            raise ValueError("the mapping is closed, or of the process before a fork")
        if not length:
            return memoryview(bytearray())
        found = (ctypes.c_ubyte * length).from_address(self.address + offset)
        found.use = use = _Use(self)  # type: ignore[attr-defined]  # is there as long as the bytes are
        self._uses.add(use)
        return memoryview(found).cast("B")

    def tensor(self, dtype: "torch.dtype", shape: Sequence[int], offset: int = 0) -> "torch.Tensor":
        """Look at the mapping as a contiguous CPU tensor; it keeps the mapping.

        Args:
            dtype: Of the elements.
            shape: Of the tensor; a dimension may be 0.
            offset: Bytes from the start, a multiple of an element's size.

        Raises:
            ValueError: It is not within what was asked for, or not aligned.
        """
        import torch  # noqa: PLC0415 - all else here works without

        if offset % dtype.itemsize or min(shape, default=0) < 0:
            raise ValueError(f"{dtype} {tuple(shape)} cannot start at byte {offset}")
        view = self.view(offset, prod(shape) * dtype.itemsize)
        if not len(view):
            return torch.empty(tuple(shape), dtype=dtype)
        return torch.frombuffer(view, dtype=torch.uint8).view(dtype).view(tuple(shape))

    def close(self) -> None:
        """Give the memory back; again, or in a forked child, it does nothing.

        Raises:
            BufferError: A view, a tensor or a registration is still there.
        """
        if alive := len(self._uses):
            raise BufferError(
                f"{alive} views of {told(self.asked)} at {self.address:#x} are in use"
            )
        self._unmap()


def _unmap(base: int, length: int, owner: int) -> None:
    # A child was given nothing here, and may have mapped something of its own since.
    if os.getpid() == owner:
        system_calls.unmap(base, length)


def _refused(length: int, error: OSError) -> Refused:
    return Refused(
        f"the system does not give {told(length)} of address space: {error.strerror}",
        hint="see `ulimit -v`, /proc/sys/vm/overcommit_memory and /proc/sys/vm/max_map_count",
    )
