"""Files that others may have put there, read with no trust in what lies under their names."""

import os
import stat
from pathlib import Path


def read_regular(file: Path, most: int) -> bytes | None:
    """Read a regular file.

    Args:
        file: Where it lies; no link is followed there.
        most: Its size, in bytes, at most.

    Returns:
        Its content; None where there is none, it is no regular file, or it is larger.
    """
    # Opening a pipe would wait for its other end.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return None
        descriptor = os.open(file, flags)
    except (OSError, ValueError):  # a name that no file can have
        return None
    with os.fdopen(descriptor, "rb") as stream:
        # Another file may be there by now.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        try:
            content = stream.read(most + 1)
        except OSError:
            return None
    return content if len(content) <= most else None
