"""Files that a reader finds whole, old or new, whenever it looks."""

import errno
import os
import tempfile
from pathlib import Path


def replace_file(
    path: Path, content: bytes, *, mode: int = 0o644, scratch: Path | None = None
) -> None:
    """Write a file in one step; a killed run leaves the old one or the new one.

    Args:
        path: The file.
        content: Its new content.
        mode: Its permission bits.
        scratch: Name under which the new one is written first, on the same filesystem; only for a
            caller that holds a lock. A run that was killed leaves it, and the next takes it over.
            Without it the name is a new one beside the file.

    Raises:
        OSError: It cannot be written, or is a device, a pipe or a socket; the old one stays.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        # A rename would put a file in its place for everyone on the machine.
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    if scratch:
        scratch.unlink(missing_ok=True)
        descriptor = os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    else:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        scratch = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        scratch.chmod(mode)
        scratch.replace(path)
    except OSError as error:  # of a full disk, which names no file by itself
        error.filename = error.filename or str(path)
        raise
    finally:
        scratch.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk, so that a later step cannot get there before them.

    Raises:
        OSError: The disk refuses.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
