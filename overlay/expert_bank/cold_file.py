# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A file whose mapped rows are read from disk at each step, and given back behind it."""

import mmap
import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from expert_bank import file_calls, system_calls
from expert_bank.cold_folder import open_unnamed, refused
from expert_bank.disk_reads import read_bytes
from expert_bank.memlock import memlock
from expert_bank.pages import page_bytes, whole_pages
from expert_bank.refused import Refused
from expert_bank.sizes import told


class ColdFile:
    """The cold rows of all layers, in one file that has no name.

    What an address of it holds is the file's bytes whether they are in memory or not, so that
    giving them back changes no answer. A disk that fails to read one kills the process (SIGBUS),
    as it does for every mapped file.

    Attributes:
        folder: That it is in.
        size: Bytes that are mapped, in whole pages.
        give_backs: How often its pages were given back.
        steps: How many there were.
        read: Bytes that the process had read from disks during them.
        least: Bytes of the pages that they asked for, each page once a step: were none of them in
            memory when its step began, at least as many were read.
        kept: Of a step's, the most that were in memory once the step had given them back.
    """

    def __init__(self, folder: Path, *, written: bool = False) -> None:
        """Open it, empty.

        Args:
            folder: On a disk.
            written: Whether rows are written to while serving, so that each time they must be on
                the disk before they can be given back.

        Raises:
            Refused: The folder takes no file, or its files are memory.
        """
        self.folder = folder
        self.size = 0
        self.give_backs = 0
        self.steps = 0
        self.read = 0
        self.least = 0
        self.kept = 0
        self._asked: set[tuple[int, int]] | None = None
        self._written = written
        self._ranges: list[tuple[int, int]] = []
        self._number = open_unnamed(folder)
        # The mappings keep the file's bytes; when the last of them goes, so do these.
        weakref.finalize(self, os.close, self._number)

    @property
    def room(self) -> int:
        """Bytes that the folder has left for this user."""
        return file_calls.room(self._number)

    def reserve(self, length: int) -> None:
        """Have the disk promise bytes, so that no later write to them finds it full.

        Raises:
            Refused: It does not.
        """
        try:
            os.posix_fallocate(self._number, 0, max(1, length))
        except OSError as error:
            os.ftruncate(self._number, self.size)
            raise refused(self.folder, length, error) from None

    def map(self, address: int, length: int) -> None:
        """Map the next so many bytes, zeros, over reserved space.

        Args:
            address: Page-aligned; the space goes to the end of the last page.
            length: Bytes.

        Raises:
            Refused: The disk has no room.
            OSError: The system does not map them.
        """
        size = whole_pages(length, page_bytes())
        self.reserve(self.size + size)
        file_calls.map_file(address, size, self._number, self.size)
        system_calls.leave_out_of_forks(address, size)
        # The kernel reads ahead by a device's setting, megabytes of rows that nobody picked.
        file_calls.advise(address, size, mmap.MADV_RANDOM)
        self._ranges.append((address, size))
        self.size += size

    def settle(self) -> None:
        """Write what was filled to the disk, and give its pages back.

        Raises:
            Refused: The disk does not take it.
        """
        try:
            os.fdatasync(self._number)
        except OSError as error:
            raise refused(self.folder, self.size, error) from None
        self._drop()

    @contextmanager
    def step(self) -> Iterator[None]:
        """Begin a step with no row in memory, and give those that it read back behind it."""
        self.give_back()
        before = read_bytes()
        asked: set[tuple[int, int]] = set()
        self._asked = asked
        try:
            yield
        finally:
            self.read += read_bytes() - before
            self.steps += 1
            self._asked = None
            pages = [*joined(asked)]
            self.least += sum(length for _, length in pages)
            self.give_back()
            self.kept = max(self.kept, sum(file_calls.in_memory(*each) for each in pages))

    def ask(self, address: int, length: int) -> None:
        """Have the disk read a range that is about to be touched; returns before it has come."""
        page = page_bytes()
        start = address - address % page
        size = whole_pages(address + length - start, page)
        file_calls.advise(start, size, mmap.MADV_WILLNEED)
        if self._asked is not None:
            self._asked.add((start, size))

    def give_back(self) -> None:
        """Let all rows go out of memory; the next read of one comes from the disk.

        Raises:
            Refused: Rows were written to, and the disk does not take them.
        """
        self.give_backs += 1
        if self._written:
            self.settle()
        else:
            self._drop()

    def in_memory(self) -> int:
        """Count the bytes that are in memory, in whole pages."""
        return sum(file_calls.in_memory(*each) for each in self._ranges)

    def told(self) -> dict[str, Any]:
        """Tell how it stands, as values that JSON can carry; what was read since is given back."""
        self.give_back()
        return {
            "folder": str(self.folder),
            "bytes": self.size,
            "kept": self.kept,
            "locked": memlock().locked,
            "steps": self.steps,
            "read": self.read,
            "least": self.least,
            "give_backs": self.give_backs,
        }

    def prove(self) -> str:
        """Show that nothing of it is in memory, and the disk has it.

        Returns:
            A line for people.

        Raises:
            Refused: Pages stay in memory.
        """
        self.settle()
        if left := self.in_memory():
            raise Refused(
                f"moe_cold_rows file: {told(left)} of {told(self.size)} in {self.folder} stay in"
                " memory when they are given back, and a cold row would cost nothing",
                hint="another process may have this file's pages locked, or the file system keeps"
                " them; name another folder in EXPERT_BANK_FOLDER",
            )
        return f"cold rows: {told(self.size)} in a file in {self.folder}, none of it in memory"

    def _drop(self) -> None:
        # In this order: the page cache keeps pages that are mapped. Of pages that several threads
        # have just read, MADV_PAGEOUT leaves some.
        for each in self._ranges:
            file_calls.advise(*each, mmap.MADV_DONTNEED)
        os.posix_fadvise(self._number, 0, 0, os.POSIX_FADV_DONTNEED)


def joined(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield ranges, each a start and a length, such that no two overlap or touch."""
    start = end = 0
    for first, length in sorted(ranges):
        if first > end:
            if end > start:
                yield start, end - start
            start = first
        end = max(end, first + length)
    if end > start:
        yield start, end - start
