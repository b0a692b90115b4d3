"""A lane's base, kept: upstream removes all but its newest nightlies."""

from msgspec import UNSET

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.opened.image import OpenImage, open_image
from lanewright.image.opened.kept import keep, kept_image
from lanewright.image.opened.skopeo import copied, raw_kind, with_list
from lanewright.places import Places
from lanewright.queue.lock import Lock, LockedBase
from lanewright.store.locking import held
from lanewright.store.scratch import making
from lanewright.terminal import quoted, say

# Registries on this very machine speak no TLS, as for docker.
LOCAL = ("localhost:", "127.", "[::1]:")


def base_of(lock: Lock) -> LockedBase:
    """The image that a lane's lock names as its base.

    Raises:
        LanewrightError: It names none.
    """
    if lock.base is UNSET:
        raise LanewrightError(
            f"lane {lock.lane} names no base to mirror: [image] of its series has no `base`",
            hint=f"lanewright image base {quoted(lock.lane)} makes one for a CPU lane",
        )
    return lock.base


def kept_base(places: Places, base: LockedBase, architecture: str | None) -> OpenImage | None:
    """The store's copy of a lane's base; None where there is none.

    Raises:
        LanewrightError: It is damaged.
    """
    image = kept_image(places, base.digest)
    if image or not places.base_images.exists():
        return image
    # The lock may name the list alone.
    for folder in sorted(places.base_images.glob("sha256-*")):
        try:
            found = open_image(folder, None)
        except LanewrightError as error:
            # Of another lane, for all that can be seen.
            say(f"passed over, for it is damaged: {error}")
            continue
        if found.index == base.digest and architecture in (None, found.platform.architecture):
            return found
    return None


def mirrored(places: Places, lock: Lock, architecture: str | None) -> OpenImage:
    """Bring a lane's base into the store from where it is published; once is enough.

    Args:
        places: The store.
        lock: Names the base by its digest, of the image or of the list that has it.
        architecture: Which of a list, as Go names it; None takes this machine's.

    Raises:
        MismatchError: What is published under the digest is another image.
        LanewrightError: It cannot be had, or there is no skopeo.
    """
    try:
        return _mirrored(places, base_of(lock), architecture)
    except MismatchError:
        raise
    except LanewrightError as error:
        raise LanewrightError(
            f"lane {lock.lane}: its base {base_of(lock).name} is not kept: {error}",
            hint=error.hint
            or f"lanewright image mirror {quoted(lock.lane)}, once its registry answers; or, where it"
            f" was kept elsewhere, `lanewright image mirror {quoted(lock.lane)} --base LAYOUT`",
        ) from error


def _mirrored(places: Places, base: LockedBase, architecture: str | None) -> OpenImage:
    places.base_images.mkdir(parents=True, exist_ok=True)
    with held(places.base_images / "mirror.lock", "mirrors an image"):
        there = kept_base(places, base, architecture)
        if there:
            return there
        name = base.name.partition("@")[0]
        flags = ["--src-tls-verify=false"] if name.startswith(LOCAL) else []
        reads = ["--tls-verify=false"] if flags else []
        place = f"docker://{_untagged(name)}@"
        with making(places.base_images) as scratch:
            layout = scratch / "layout"
            digest, is_list = raw_kind(f"{place}{base.digest}", *reads)
            if digest != base.digest:
                raise MismatchError(f"{place}{base.digest} is {digest}")
            copied(f"{place}{base.digest}", layout, architecture, *flags)
            index = base.digest if is_list else base.index
            if index:
                with_list(f"{place}{index}", layout, index, *reads)
            return keep(places, open_image(layout, architecture))


def _untagged(name: str) -> str:
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}"
