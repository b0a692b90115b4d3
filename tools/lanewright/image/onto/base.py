"""Which image a lane's stands on."""

import platform
from collections.abc import Iterator
from contextlib import contextmanager

from lanewright.errors import LanewrightError
from lanewright.image.base.recipe import base_image
from lanewright.image.mirror import kept_base
from lanewright.image.oci import ARCHITECTURES
from lanewright.image.onto.again import Again
from lanewright.image.opened.image import OpenImage, open_image
from lanewright.image.opened.kept import keep, kept_image
from lanewright.image.opened.origin import brought
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.lock import Lock
from lanewright.queue.series import Series
from lanewright.terminal import quoted


def architecture_of(series: Series) -> str | None:
    """What a lane's image is for: what its series says, else this machine.

    Returns:
        As Go names it; None for a machine of another kind.
    """
    said = series.image.architecture if series.image else None
    return said or ARCHITECTURES.get(platform.machine())


def found_base(
    project: Project, places: Places, series: Series, lock: Lock, given: str | None = None
) -> OpenImage | None:
    """The base of a lane's image.

    Args:
        project: The user's project.
        places: The store.
        series: Of the lane.
        lock: Of the lane; it may name a base.
        given: What a person hands over instead: ``brought`` says what that may be, or the digest of
            an image that the store has.

    Returns:
        None for a lane whose base is made here, and is not yet.

    Raises:
        LanewrightError: It is damaged, or published and not on this machine.
    """
    architecture = architecture_of(series)
    if given and given.startswith("sha256:"):
        with _damaged(Again(places, lock, given)):
            kept = kept_image(places, given)
        if kept is None:
            raise LanewrightError(
                f"the store has no base image {given}", hint="name a layout or an archive"
            )
        return _of_architecture(kept, architecture)
    if given:
        return brought(places, given, architecture)
    kept = own_base(project, places, series, lock)
    if kept is None and lock.base:
        lane = quoted(lock.lane)
        raise LanewrightError(
            f"lane {lock.lane}: its base {lock.base.name} ({lock.base.digest}) is not on this"
            " machine",
            hint=f"lanewright image mirror {lane}; or, where that was done elsewhere,"
            f" `lanewright image {lane} --base LAYOUT`",
        )
    return _of_architecture(kept, architecture) if kept else None


def own_base(project: Project, places: Places, series: Series, lock: Lock) -> OpenImage | None:
    """The base that a lane names or that is made for it; None where it is not on this machine.

    Raises:
        LanewrightError: It is damaged.
    """
    if lock.base:
        with _damaged(Again(places, lock, lock.base.digest)):
            return kept_base(places, lock.base, architecture_of(series))
    made = base_image(project, places, lock.lane)
    if made is None:
        return None
    mend = f"rm -r {quoted(made)} && lanewright image base {quoted(lock.lane)}"
    try:
        return keep(places, open_image(made, None))
    except LanewrightError as error:
        raise LanewrightError(f"lane {lock.lane}: its base: {error}", hint=mend) from error


@contextmanager
def _damaged(again: Again) -> Iterator[None]:
    """Say how a base of the store is had again that cannot be opened."""
    try:
        yield
    except LanewrightError as error:
        raise LanewrightError(
            f"lane {again.lock.lane}: its base: {error}", hint=again.base()
        ) from error


def _of_architecture(image: OpenImage, wanted: str | None) -> OpenImage:
    if wanted not in (None, image.platform.architecture):
        raise LanewrightError(
            f"base image {image.digest} is for {image.platform.architecture}, and the lane's is for"
            f" {wanted}",
            hint="take another, or say `architecture` in [image] of the series",
        )
    return image


def told_base(lock: Lock, base: OpenImage) -> str:
    """A base, for people: by its name where the lock gives it one."""
    if lock.base and lock.base.digest in (base.digest, base.index):
        return f"{lock.base.name} ({base.digest[:19]})"
    other = " (not the lock's)" if lock.base else ""
    return f"{base.digest[:19]}{other}"
