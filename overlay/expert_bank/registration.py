# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Makes host memory known to the device in pieces, all of them or none."""

from collections.abc import Callable, Iterator

from expert_bank.memlock import Memlock, memlock
from expert_bank.pages import HostPages, page_bytes
from expert_bank.refused import Refused
from expert_bank.sizes import told

# One registration of 512 GiB or more fails (vLLM #51080).
CHUNK = 64 * 2**30
# cudaErrorOperatingSystem and cudaErrorNotPermitted: Linux would not lock the pages.
NOT_ALLOWED = (304, 800)

# Memory that a device still has is not given back: what is mapped there next would be taken for it.
_STUCK: list["Registration"] = []

Register = Callable[[int, int], int]
Unregister = Callable[[int], int]


def chunks(address: int, length: int, *, page: int, most: int = CHUNK) -> Iterator[tuple[int, int]]:
    """Cut whole pages into pieces; every piece starts and ends at a page.

    Args:
        address: Of the first byte, page-aligned.
        length: Bytes, in whole pages.
        page: Bytes of one.
        most: Bytes of a piece, at least a page.

    Yields:
        Address and length of each piece, in order.
    """
    step = most // page * page
    if address % page or length % page or step < page:
        raise ValueError(f"{length} bytes at {address:#x} by {most} are not pages of {page}")
    for start in range(address, address + length, step):
        yield start, min(step, address + length - start)


class Registration:
    """Memory that the device knows; it is kept for as long as it is registered.

    Attributes:
        chunks: Address and length of each registered piece.
    """

    def __init__(  # noqa: D417 - the two calls are described together
        self,
        pages: HostPages,
        *,
        register: Register,
        unregister: Unregister,
        most: int = CHUNK,
        limit: Callable[[], Memlock] = memlock,
    ) -> None:
        """Register a mapping.

        Args:
            pages: The mapping.
            register, unregister: The device's calls, by address and length and by address;
                they return a status, 0 where it went well, or raise.
            most: Bytes of a piece.
            limit: Reads what may be locked, for the refusal.

        Raises:
            Refused: A call failed; what was registered before it no longer is.
        """
        self.chunks: list[tuple[int, int]] = []
        self._unregister = unregister
        self._kept: memoryview | None = pages.view()
        before = limit()
        try:
            for start, length in chunks(pages.address, pages.size, page=page_bytes(), most=most):
                self._check(register(start, length), start, length, pages.size, before)
                self.chunks.append((start, length))
        except BaseException as error:
            for left in self._undo():
                error.add_note(left)
            raise

    def _check(self, status: int, start: int, length: int, whole: int, before: Memlock) -> None:
        """Refuse a piece that was not registered."""
        if not status:
            return
        done = sum(each for _, each in self.chunks)
        raise before.refusal(whole) or Refused(
            f"the device does not take {told(length)} of host memory at {start:#x}: status "
            f"{status}, with {told(done)} of {told(whole)} registered before it",
            hint="start the container with --ulimit memlock=-1 and --cap-add IPC_LOCK"
            if status in NOT_ALLOWED
            else "",
        )

    def _undo(self) -> list[str]:
        """Unregister from the last on; what could not be stays in ``chunks`` and is told."""
        left = []
        for start, length in reversed(self.chunks.copy()):
            try:
                status = self._unregister(start)
            except Exception as error:  # noqa: BLE001 - the pieces before it are still to be undone
                left.append(f"{told(length)} at {start:#x} is still registered: {error}")
                continue
            if status:
                left.append(f"{told(length)} at {start:#x} is still registered: status {status}")
            else:
                self.chunks.remove((start, length))
        if left and self not in _STUCK:
            _STUCK.append(self)
        elif not left:
            self._kept = None
            if self in _STUCK:
                _STUCK.remove(self)
        return left

    def close(self) -> None:
        """Unregister, so that the mapping may be given back; again does nothing.

        Raises:
            Refused: A piece is still registered; the mapping stays, and closing can be tried again.
        """
        if left := self._undo():
            raise Refused("host memory cannot be taken from the device: " + "; ".join(left))
