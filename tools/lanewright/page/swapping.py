"""A page takes its place in one step: a reader finds the old one or the new one, whole."""

import ctypes
import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.store.scratch import discard, making

MARKER = ".lanewright-page"
MARK = b"A page of lanewright's; the next one replaces all of this folder.\n"
AT_FDCWD, RENAME_EXCHANGE = -100, 2
# The kernel, or the filesystem, cannot.
CANNOT = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


@contextmanager
def replacing(place: Path) -> Iterator[Path]:
    """A new folder that takes a page's place when the block ends; if it raises, nothing changes.

    Args:
        place: Absent, empty, or a page of ours.

    Raises:
        LanewrightError: Something else is there.
        OSError: It cannot be written.
    """
    place = place.resolve()
    with making(place.parent) as scratch:
        with _alone(place.parent):
            require_ours(place)
        made = scratch / "page"
        made.mkdir()
        (made / MARKER).write_bytes(MARK)
        yield made
        with _alone(place.parent):
            require_ours(place)
            _swap(made, place)


def require_ours(place: Path) -> None:
    """See that a folder is one that may be replaced.

    Raises:
        LanewrightError: It is not.
    """
    hint = "lanewright page --out DIR, with a new or an empty folder"
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise LanewrightError(f"{place} is no folder", hint=hint)
    marker = place / MARKER
    if marker.is_file() and not marker.is_symlink():
        return
    if any(place.iterdir()):
        raise LanewrightError(f"{place} holds something that is no page of lanewright's", hint=hint)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other runs from swapping a page in a folder; where that has no locks, the block just runs."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _swap(made: Path, place: Path) -> None:
    if place.exists() and _exchanged(made, place):
        return
    discard(place)
    made.rename(place)


def _exchanged(one: Path, other: Path) -> bool:
    """Swap two folders in one step; False where that cannot be done here."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    paths = os.fsencode(one), os.fsencode(other)
    if renameat2(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) == 0:
        return True
    if (code := ctypes.get_errno()) in CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))
