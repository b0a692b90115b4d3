"""Make a lane's image on a base, once it is shown that the base is of the lane's pin."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lanewright.errors import DamagedError, LanewrightError
from lanewright.image.onto.again import Again
from lanewright.image.onto.base import told_base
from lanewright.image.onto.check import differences, require_intact_image
from lanewright.image.onto.composed import Composed, compose
from lanewright.image.onto.layout import image_folder, lay_image
from lanewright.image.onto.refusing import taking_out
from lanewright.image.opened.contents import contents_of
from lanewright.image.opened.image import OpenImage
from lanewright.image.preimage import require_preimage
from lanewright.places import Places
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.git import Repository
from lanewright.store.scratch import discard
from lanewright.terminal import say

MIB = 2**20


@dataclass(frozen=True)
class Made:
    """An image on disk.

    Attributes:
        image: Its documents.
        base: What it stands on.
        folder: Its layout.
        size: Bytes of all its layers, as they are stored.
        new: Bytes that its base does not have already.
    """

    image: Composed
    base: OpenImage
    folder: Path
    size: int
    new: int


def make_image(
    places: Places, lock: Lock, base: OpenImage, out: Path | None = None, *, unused: str = ""
) -> Made:
    """Make an image, unless it is there.

    Args:
        places: The store.
        lock: With a layer.
        base: A layout of the store.
        out: Folder for the image, instead of the store's; new, empty, or this very image.
        unused: What to type besides where the base is refused.

    Raises:
        LanewrightError: The base is not of the pin, or the folder holds something else.
        MismatchError: What is there is not the image of the lock.
    """
    repository = Repository(places.objects)
    ours = image_folder(places, lock, base)
    try:
        found = contents_of(places, base)
        with taking_out(ours):
            require_preimage(repository, lock, found, told_base(lock, base))
    except DamagedError as error:
        mend = Again.of(places, lock, base).both()
        raise DamagedError(f"lane {lock.lane}: its base: {error}", hint=mend) from error
    except LanewrightError as error:
        error.hint = "; ".join(filter(None, [error.hint, unused])) or None
        raise
    folder = out or ours
    if not out and not folder.is_dir():
        # What is no folder is no image.
        discard(folder)
    image = compose(lock, base)
    if folder.exists() and any(folder.iterdir()):
        if out and differences(places, lock, out, base):
            raise LanewrightError(
                f"{out} holds something, and it is not this image",
                hint="name an empty or a new folder",
            )
        if not out:
            with taking_out(folder):
                require_intact_image(places, lock, folder, base, stays=False)
        what = "is there already, and as lock and base give it"
    else:
        check = partial(_require_made, places, lock, base, folder)
        lay_image(repository, lock, base, image, folder, check)
        what = "made"
    own = layer_of(lock).size + sum(
        len(content) for path, content in image.documents.items() if path.startswith("blobs/")
    )
    size = layer_of(lock).size + sum(each.blob.size for each in base.layers)
    say(
        f"lane {lock.lane}: image {what}: {base.platform.os}/{base.platform.architecture},"
        f" {size / MIB:,.1f} MiB on {told_base(lock, base)}; new in it {own / MIB:,.2f} MiB"
    )
    return Made(image, base, folder, size, own)


def _require_made(places: Places, lock: Lock, base: OpenImage, folder: Path, made: Path) -> None:
    require_intact_image(places, lock, folder, base, made=made)
