"""Memory that goes and comes at addresses that stay, as a device's does while an engine sleeps."""

import ctypes
import mmap

from expert_bank.pages import page_bytes
from expert_bank.ranges import Range

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long),
)
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
PRIVATE, FIXED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 0x10
READ_WRITE, NOTHING = mmap.PROT_READ | mmap.PROT_WRITE, 0


class GoingMemory:
    """A mapping whose pages can be let go: any access while they are ends the process.

    Attributes:
        place: Its addresses.
    """

    def __init__(self, pages: int) -> None:
        size = pages * page_bytes()
        address = _LIBC.mmap(None, size, READ_WRITE, PRIVATE, -1, 0)
        self.place = Range(address, address + size)

    def go(self) -> None:
        """Let the pages go; the addresses stay taken."""
        self._map(NOTHING)

    def come(self) -> None:
        """Have fresh pages at the same addresses."""
        self._map(READ_WRITE)

    @property
    def held(self) -> bytes:
        """What is there."""
        return ctypes.string_at(self.place.start, self.place.length)

    def write(self, content: bytes) -> None:
        """Fill it."""
        ctypes.memmove(self.place.start, content, self.place.length)

    def close(self) -> None:
        """Give it back."""
        assert _LIBC.munmap(self.place.start, self.place.length) == 0

    def _map(self, may: int) -> None:
        place = self.place
        found = _LIBC.mmap(place.start, place.length, may, PRIVATE | FIXED, -1, 0)
        assert found == place.start


def moved(to: int, source: int, length: int) -> None:
    """Copy bytes between addresses."""
    ctypes.memmove(to, source, length)
