"""A pool of a device's memory on Linux: what is let go faults, and comes again at its address.

It is what vLLM's allocator does on CUDA, whose physical memory is apart from its addresses.
"""

import ctypes
import mmap
import os
import random
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch

from expert_bank.asleep import WEIGHTS, Allocation
from expert_bank.ranges import Range

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long),
)
PRIVATE, FIXED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 0x10
READ_WRITE, NOTHING = mmap.PROT_READ | mmap.PROT_WRITE, 0
PAGE = mmap.PAGESIZE
ALIGNED = 16
STALE = 0x5C


def mapped(size: int) -> int:
    """Map whole pages somewhere; the address."""
    found = _LIBC.mmap(None, size, READ_WRITE, PRIVATE, -1, 0)
    assert found
    return int(found)


def let_go(address: int, size: int) -> None:
    """Take the pages away; the addresses stay taken."""
    assert _LIBC.mmap(address, size, NOTHING, PRIVATE | FIXED, -1, 0) == address


def come_again(address: int, size: int) -> None:
    """Have fresh pages at the same addresses, with whatever in them."""
    assert _LIBC.mmap(address, size, READ_WRITE, PRIVATE | FIXED, -1, 0) == address
    ctypes.memset(address, STALE, size)


def moved(to: int, source: int, length: int) -> None:
    """Copy bytes between addresses."""
    ctypes.memmove(to, source, length)


def bytes_at(place: Range) -> torch.Tensor:
    """Look at memory."""
    found = (ctypes.c_ubyte * place.length).from_address(place.start)
    return torch.frombuffer(memoryview(found), dtype=torch.uint8)


def dies(act: Callable[[], object]) -> bool:
    """Whether a child that does it ends by a fault."""
    child = os.fork()
    if not child:
        # torch would look its whole stack up first.
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        try:
            act()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) < 0


@dataclass
class Held:
    """An allocation; ``backup`` while it is let go and kept."""

    place: Range
    tag: str
    free: int
    asleep: bool = False
    backup: bytes | None = None


class MappedPool:
    """Lays tensors into allocations at random: several in one, one that fills its own, gaps between.

    Attributes:
        held: In the order they were made.
        moves: How often bytes were moved.
        move_with: What moves them.
    """

    def __init__(self, seed: int) -> None:
        self.held: list[Held] = []
        self.moves = 0
        self.move_with: Callable[[int, int, int], None] = moved
        self._draw = random.Random(seed)  # noqa: S311 - no secret

    def room(self, size: int, tag: str = WEIGHTS) -> torch.Tensor:
        """Give room for a tensor."""
        draw = self._draw
        last = self.held[-1] if self.held else None
        gap = ALIGNED * draw.choice((0, 0, 1, 7))
        if last is None or last.tag != tag or last.free < gap + size or draw.random() < 0.3:
            more = draw.choice((0, size, 3 * PAGE))
            whole = -(-(gap + size + more) // PAGE) * PAGE or PAGE
            address = mapped(whole)
            last = Held(Range(address, address + whole), tag, whole)
            self.held.append(last)
            noise = torch.tensor(list(draw.randbytes(whole)), dtype=torch.uint8)
            bytes_at(last.place).copy_(noise)
        start = last.place.end - last.free + gap
        last.free -= -(-(gap + size) // ALIGNED) * ALIGNED
        return bytes_at(Range(start, start + size)) if size else torch.empty(0, dtype=torch.uint8)

    def allocations(self) -> list[Allocation]:
        """List all of it, as it is now."""
        return [Allocation(each.place, each.tag, each.asleep) for each in self.held]

    def backed_up(self, tag: str) -> bool:
        """Tell whether a tag is backed up at every level."""
        return tag == "runtime"

    def move(self, to: int, source: int, length: int) -> None:
        """Copy bytes."""
        self.moves += 1
        self.move_with(to, source, length)

    def sleep(self, backed_up: Iterable[str] = ()) -> None:
        """Let everything go that is there; keep what the tags name."""
        for each in self.held:
            if not each.asleep:
                if each.tag in backed_up:
                    each.backup = bytes(bytes_at(each.place).tolist())
                let_go(each.place.start, each.place.length)
                each.asleep = True

    def wake(self, tags: Iterable[str] | None = None) -> None:
        """Have it again, with whatever in it but for what was kept."""
        for each in self.held:
            if each.asleep and (tags is None or each.tag in tags):
                come_again(each.place.start, each.place.length)
                each.asleep = False
                if each.backup is not None:
                    ctypes.memmove(each.place.start, each.backup, each.place.length)
                    each.backup = None

    def seen(self, tag: str = WEIGHTS) -> list[torch.Tensor]:
        """Copy the bytes of every allocation of a tag."""
        return [bytes_at(each.place).clone() for each in self.held if each.tag == tag]
