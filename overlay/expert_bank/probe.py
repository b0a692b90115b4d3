# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How fast the host bank is read, before anyone is served from it."""

import ctypes
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from expert_bank.refused import Refused
from expert_bank.sizes import told

# Reads what is at an address and returns when it has, which a device must be waited for.
Reader = Callable[[int, int], None]

# Between what a GB300 reads from its own Grace's memory, 338 GB/s, and from the other's, 221 GB/s.
GRACE_FLOOR = 280.0
SAMPLE = 2**30
SLICES = 16
# The longest that a reader is asked for.
SLICE = SAMPLE // SLICES
REPEATS = 5


@dataclass(frozen=True)
class Speed:
    """What a probe saw.

    Attributes:
        read: Bytes that each pass read.
        seconds: That each pass took, in order.
    """

    read: int
    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """GB/s (10**9 bytes) of the fastest pass: what else ran only ever slows one down."""
        return self.read / min(self.seconds) / 1e9

    def __str__(self) -> str:
        each = ", ".join(f"{self.read / seconds / 1e9:.1f}" for seconds in self.seconds)
        return f"{self.best:.1f} GB/s, the best of {each}, {told(self.read)} each"


def slices(address: int, length: int, *, sample: int, count: int) -> Iterator[tuple[int, int]]:
    """Spread a sample over a range: its first and last bytes and evenly between.

    Args:
        address: Of the first byte.
        length: Bytes.
        sample: Bytes to take in all; all there are where they are fewer.
        count: Of slices, at least one.

    Yields:
        Address and length of each slice, without overlap.
    """
    each = max(1, min(sample, length) // count)
    count = min(count, length)
    for number in range(count):
        yield address + (length - each) * number // max(1, count - 1), each


def probe(
    address: int,
    length: int,
    read: Reader,
    *,
    sample: int = SAMPLE,
    count: int = SLICES,
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.perf_counter,
) -> Speed:
    """Time how fast a sample of a bank is read.

    Args:
        address: Of the bank's first byte.
        length: Bytes; all must have been written to, for pages that were not are no memory yet.
        read: Reads a slice.
        sample: Bytes of a pass; larger than the caches on the way, or these are measured.
        count: Of slices in a pass.
        repeats: Passes, at least one.
        clock: Seconds.
    """
    chosen = list(slices(address, length, sample=sample, count=count))
    seconds = []
    for _ in range(repeats):
        start = clock()
        for at, each in chosen:
            read(at, each)
        seconds.append(max(clock() - start, 1e-9))
    return Speed(sum(each for _, each in chosen), tuple(seconds))


def host_reader(most: int) -> Reader:
    """Make a reader that copies by the CPU, in one thread.

    Args:
        most: Bytes of the largest slice.
    """
    scratch = ctypes.create_string_buffer(most)

    def read(address: int, length: int) -> None:
        if length > most:
            raise ValueError(f"{length} bytes do not fit into {most}")
        ctypes.memmove(scratch, address, length)

    return read


def require_speed(found: Speed, floor: float | None, *, node: int | None) -> None:
    """Refuse a bank that is read too slowly.

    Args:
        found: What the probe saw.
        floor: GB/s; None where it is only to be told.
        node: That the bank is on; None where the machine has no nodes.

    Raises:
        Refused: The best pass is below the floor.
    """
    if floor is not None and found.best < floor:
        where = "on a machine without nodes" if node is None else f"on node {node}"
        raise Refused(
            f"host memory {where} is read at {found}, below the floor of {floor:.1f} GB/s",
            hint="name the node next to the device in EXPERT_BANK_NODE, see `nvidia-smi topo -m`,"
            " or a lower floor in EXPERT_BANK_READ_FLOOR",
        )
