"""An image that is refused: told, and no longer among those of the store."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lanewright.errors import DamagedError, LanewrightError, MismatchError
from lanewright.image.onto.again import Again
from lanewright.image.onto.base import told_base
from lanewright.image.onto.check import require_intact_image
from lanewright.image.opened.contents import contents_of
from lanewright.image.opened.image import OpenImage
from lanewright.image.preimage import require_preimage
from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.store.git import Repository
from lanewright.store.scratch import discard


@contextmanager
def taking_out(folder: Path) -> Iterator[None]:
    """Take an image out of the store where the block refuses it."""
    try:
        yield
    except LanewrightError:
        discard(folder)
        raise


def require_good_image(places: Places, lock: Lock, folder: Path, base: OpenImage) -> None:
    """Check an image of the store and what it stands on; what is refused does not stay.

    Raises:
        MismatchError: It is not what lock and base give, or the base is not of the lock's pin.
    """
    with taking_out(folder):
        require_intact_image(places, lock, folder, base, stays=False)
        require_pinned(places, lock, folder, base)


def require_pinned(
    places: Places, lock: Lock, image: Path, base: OpenImage, *, fresh: bool = False
) -> None:
    """Check that what an image stands on is of the lock's pin.

    Args:
        places: The store.
        lock: Of the lane.
        image: Its layout, for messages.
        base: What it stands on.
        fresh: Whether to read the base's layers again, whatever the store has noted of them.

    Raises:
        MismatchError: It is not, or cannot be read.
    """
    try:
        found = contents_of(places, base, fresh=fresh)
        require_preimage(Repository(places.objects), lock, found, told_base(lock, base))
    except DamagedError as error:
        mend = Again.of(places, lock, base).both()
        raise MismatchError(f"{image}: {error}", hint=mend) from error
    except LanewrightError as error:
        raise MismatchError(f"{image}: {error}", hint=error.hint) from error
