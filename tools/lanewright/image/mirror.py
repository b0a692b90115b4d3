"""A lane's base, kept: upstream removes all but its newest nightlies."""

from lanewright.errors import LanewrightError, MismatchError, UnreachedError
from lanewright.image.opened.image import OpenImage, open_image
from lanewright.image.opened.kept import keep, kept_image, require_whole
from lanewright.image.opened.skopeo import copied, is_list, with_list
from lanewright.places import Places
from lanewright.queue.lock import LockedBase
from lanewright.store.locking import held
from lanewright.store.scratch import making
from lanewright.terminal import quoted, say

# Registries on this very machine speak no TLS, as for docker.
LOCAL = ("localhost:", "127.", "[::1]:")


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


def whole_base(places: Places, base: LockedBase, architecture: str | None) -> OpenImage | None:
    """The store's copy of a lane's base, every blob of it read; None where it is damaged, or not there."""
    try:
        image = kept_base(places, base, architecture)
        if image:
            require_whole(image)
    except (LanewrightError, OSError) as error:
        say(f"what is kept of {base.name} is damaged: {error}")
        return None
    return image


def mirrored(places: Places, lane: str, base: LockedBase, architecture: str | None) -> OpenImage:
    """Bring a lane's base into the store from where it is published, for what is there of it.

    Args:
        places: The store.
        lane: Whose, for messages.
        base: Named by its digest, of the image or of the list that has it.
        architecture: Which of a list, as Go names it; None takes this machine's.

    Raises:
        MismatchError: What is published under the digest is another image.
        LanewrightError: It cannot be had, or there is no skopeo.
    """
    try:
        return _mirrored(places, base, architecture)
    except LanewrightError as error:
        kinds = (MismatchError, UnreachedError)
        kind = next((kind for kind in kinds if isinstance(error, kind)), LanewrightError)
        raise kind(
            f"lane {lane}: its base {base.name} is not kept: {error}",
            hint=error.hint
            or f"lanewright image mirror {quoted(lane)}, once its registry answers; or, where it"
            f" was kept elsewhere, `lanewright image mirror {quoted(lane)} --base LAYOUT`",
        ) from error


def _mirrored(places: Places, base: LockedBase, architecture: str | None) -> OpenImage:
    places.base_images.mkdir(parents=True, exist_ok=True)
    with held(places.base_images / "mirror.lock", "mirrors an image"):
        # Another run may have been quicker.
        there = whole_base(places, base, architecture)
        if there:
            return there
        name = base.name.partition("@")[0]
        flags = ["--src-tls-verify=false"] if name.startswith(LOCAL) else []
        reads = ["--tls-verify=false"] if flags else []
        place = f"docker://{_untagged(name)}@"
        with making(places.base_images) as scratch:
            layout = scratch / "layout"
            of_list = is_list(f"{place}{base.digest}", base.digest, *reads)
            copied(f"{place}{base.digest}", layout, architecture, *flags)
            index = base.digest if of_list else base.index
            if index:
                with_list(f"{place}{index}", layout, index, *reads)
            return keep(places, open_image(layout, architecture), anew=True)


def _untagged(name: str) -> str:
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}"
