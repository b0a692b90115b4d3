"""What is made beside its place and renamed into it when it is whole."""

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Process numbers mean something on one host alone, and a store may be shared by several.
HOST = re.sub(r"[^A-Za-z0-9]", "_", platform.node())
NAME = re.compile(rf"\.making-{HOST}-(\d+)-")


@contextmanager
def making(parent: Path) -> Iterator[Path]:
    """A new folder in ``parent`` for this process, removed when the block ends if still there.

    What killed processes left in ``parent`` is removed first: a folder's name tells whose it was.

    Raises:
        OSError: The folder cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    clear_dead(parent)
    folder = Path(tempfile.mkdtemp(prefix=own_prefix(), dir=parent))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def own_prefix() -> str:
    """How names begin of what this process makes; they tell ``clear_dead`` whose it was."""
    return f".making-{HOST}-{os.getpid()}-"


def clear_dead(parent: Path) -> None:
    """Remove what killed processes left in a folder; it need not be there."""
    for left in dead(parent):
        _remove(left)


def dead(parent: Path) -> Iterator[Path]:
    """What killed processes left in a folder; it need not be there."""
    for left in parent.glob(".making-*"):
        match = NAME.match(left.name)
        if match and not Path("/proc", match[1]).exists():
            yield left


def _remove(left: Path) -> None:
    if left.is_dir():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink(missing_ok=True)


def discard(place: Path) -> None:
    """Remove a folder, at once for whoever looks; it need not be there.

    Raises:
        OSError: It cannot be moved away.
    """
    if place.exists():
        with making(place.parent) as scratch, suppress(FileNotFoundError):
            place.rename(scratch / place.name)


def settle(made: Path, place: Path) -> None:
    """Rename into place; another run that was quicker has made the same folder.

    Raises:
        OSError: It cannot be renamed, and the place is still empty.
    """
    try:
        made.rename(place)
    except OSError:
        if not place.exists():
            raise
