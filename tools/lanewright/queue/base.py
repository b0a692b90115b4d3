"""The image that a lane is to stand on, as its series names it."""

from msgspec import UNSET, UnsetType

from lanewright.queue.lock import Lock, LockedBase
from lanewright.queue.series import Series


def base_named(series: Series) -> LockedBase | UnsetType:
    """What a lock of the series says of its base; unset where the series names none."""
    image = series.image
    if image is None or image.base is None or image.digest is None:
        return UNSET
    return LockedBase(image.base, image.digest, image.index)


def bases_named(series: Series, lock: Lock | None) -> list[LockedBase]:
    """The bases of a lane: what its lock names, and its series where the lock is not of that."""
    bases = [lock.base if lock else UNSET, base_named(series)]
    return list({base.digest: base for base in bases if base}.values())
