# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Many small copies by one call.

A driver takes a batch as one submission, but a batch in which it finds small entries may be copied by
the calling thread, the large ones among them: entries of up to ``SMALL`` bytes go in a batch of their
own. Where there is no such call, ``one_by_one`` copies on the host. Whoever asks is told how many
bytes were submitted, and it is never fewer than asked for.
"""

import ctypes
from collections.abc import Callable, Iterator

from expert_bank.staging.copies import Addresses, Copies

# What a driver may stage through a buffer of its own, and then waits for.
SMALL = 64 * 2**10
# Entries of one call; above it the call's own arrays are no longer small.
MOST = 4096

# Submits copies: int64[N] sources, destinations and sizes.
Submit = Callable[[Addresses, Addresses, Addresses], None]


class CopyRefusedError(RuntimeError):
    """Copies that may not be made here, or now; none was."""


def one_by_one(copies: Copies) -> int:
    """Copy ranges of host memory one after another, in the calling thread.

    Returns:
        Bytes that were copied.

    Raises:
        NotApart: Ranges meet; nothing was copied.
    """
    copies.require_apart()
    for to, source, size in zip(
        copies.to.tolist(), copies.source.tolist(), copies.sizes.tolist(), strict=True
    ):
        # Lets other threads of Python run, as torch's own copies do; those take all cores.
        ctypes.memmove(to, source, size)
    return copies.bytes


class BatchedCopy:
    """Submits copies to a device.

    Attributes:
        calls: How often the driver was called.
        bytes: How many were submitted.
    """

    def __init__(self, submit: Submit, capturing: Callable[[], bool]) -> None:
        """Take the device's own call.

        Args:
            submit: See ``Submit``; raises where it cannot.
            capturing: Tells whether the calling thread's stream is captured into a graph.
        """
        self._submit = submit
        self._capturing = capturing
        self.calls = 0
        self.bytes = 0

    def __call__(self, copies: Copies) -> int:
        """Enqueue copies behind what the current stream has.

        Returns:
            Bytes that were submitted: all.

        Raises:
            CopyRefusedError: A graph is captured, which would replay these addresses; nothing was copied.
            NotApart: Ranges meet; nothing was copied.
        """
        if self._capturing():
            raise CopyRefusedError(f"{len(copies)} copies were asked for while a graph is captured")
        copies.require_apart()
        submitted = 0
        for group in grouped(copies):
            self._submit(group.source, group.to, group.sizes)
            self.calls += 1
            submitted += group.bytes
        if submitted != copies.bytes:
            raise CopyRefusedError(f"{submitted} of {copies.bytes} bytes were submitted")
        self.bytes += submitted
        return submitted


def grouped(copies: Copies, *, small: int = SMALL, most: int = MOST) -> Iterator[Copies]:
    """Part copies into those of at most ``small`` bytes and those above, ``most`` at a time.

    Entries without bytes are left out: a driver refuses them, or the whole batch.
    """
    for which in (copies.sizes > small, (copies.sizes > 0) & (copies.sizes <= small)):
        part = copies.some(which)
        for start in range(0, len(part), most):
            end = slice(start, start + most)
            yield Copies(part.to[end], part.source[end], part.sizes[end])
