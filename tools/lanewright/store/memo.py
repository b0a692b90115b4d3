"""Results kept under a key of all that they depend on; any of them may be lost at any time."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lanewright.store.scratch import clear_dead, own_prefix

MOST_FILES = 4096
MOST_BYTES = 128 * 2**20
# One that is larger is made anew: it would take the room of hundreds.
MOST_OF_ONE = 4 * 2**20
SEAL = hashlib.sha256().digest_size


@dataclass(frozen=True)
class Memo:
    """A folder with a file for each result.

    No writer waits for another: a file is renamed into its place, and those of one key say the
    same. What is damaged, or lies under another's name, is as if it were not there.

    Attributes:
        folder: It need not be there.
    """

    folder: Path

    @property
    def making(self) -> Path:
        """Where files are written before they are renamed."""
        return self.folder / "new"

    def read(self, key: str) -> bytes | None:
        """A result; None where none is known."""
        path = self.folder / key
        try:
            raw = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        content = raw[SEAL:]
        return content if raw[:SEAL] == _seal(key, content) else None

    def write(self, key: str, content: bytes) -> None:
        """Keep a result, if that can be done: nothing depends on it."""
        if len(content) > MOST_OF_ONE:
            return
        try:
            self.making.mkdir(parents=True, exist_ok=True)
            clear_dead(self.making)  # a command that writes no refs does not take the store's lock
            descriptor, name = tempfile.mkstemp(prefix=own_prefix(), dir=self.making)
        except OSError:
            return
        made = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                os.fchmod(descriptor, 0o644)  # a store may be that of several users
                stream.write(_seal(key, content) + content)
            made.replace(self.folder / key)
        except OSError:  # a full disk
            made.unlink(missing_ok=True)

    def prune(self) -> None:
        """Take away those that were not asked for the longest, until the rest is within bounds."""
        room, files = MOST_BYTES, MOST_FILES
        for _, size, path in sorted(self._all(), reverse=True):
            room, files = room - size, files - 1
            if min(room, files) < 0:
                path.unlink(missing_ok=True)

    def _all(self) -> Iterator[tuple[int, int, Path]]:
        """When each was asked for last, its size and its file."""
        try:
            for each in filter(os.DirEntry.is_file, os.scandir(self.folder)):
                found = each.stat()
                yield found.st_mtime_ns, found.st_size, Path(each.path)
        except OSError:  # another run took one away just now; the next prunes
            return


def _seal(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + content).digest()
