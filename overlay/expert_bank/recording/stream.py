# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The file that an engine writes its picks to, forward by forward."""

import os
import time
from pathlib import Path

from expert_bank.recording.frames import Header, Record
from expert_bank.refused import Refused

# Unless a run says another size.
USUAL_BYTES = 2**30


class Stream:
    """Appends frames to a file of its own.

    Each is written whole by one call, so what another process reads meanwhile ends at most within the
    last frame. Nothing that goes wrong with the file stops the engine: recording ends, and says why.

    Attributes:
        path: The file.
        tokens: Written so far.
        ended: Why nothing is written any more; empty while it is.
    """

    def __init__(self, folder: Path, header: Header, most: int = USUAL_BYTES) -> None:
        """Make a new file.

        Args:
            folder: It is made in; it must be there.
            header: Of the file.
            most: Bytes that it may have.

        Raises:
            Refused: It cannot be made.
        """
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        self.path = folder / f"{stamp}-{os.getpid()}.picks"
        self.tokens = 0
        self.ended = ""
        line = header.line()
        self._left = most - len(line)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW
            self._file = os.open(self.path, flags | os.O_CLOEXEC, 0o600)
            self._write(line)
        except OSError as error:
            raise Refused(
                f"moe_record_picks: cannot write {self.path}: {error.strerror}",
                hint="name a folder that is there and may be written to",
            ) from error

    def append(self, record: Record) -> None:
        """Write a forward, or end the recording where there is no room for it."""
        if self.ended:
            return
        frame = record.frame()
        if len(frame) > self._left:
            self.end("the file has as many bytes as it may have")
            return
        try:
            self._write(frame)
        except OSError as error:
            self.end(f"{error.strerror}")
            return
        self._left -= len(frame)
        self.tokens += len(record.request)

    def end(self, why: str) -> None:
        """Write nothing more."""
        if not self.ended:
            self.ended = why
            os.close(self._file)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]
