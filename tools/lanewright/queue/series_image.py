"""``[image]`` of a series: where an image has what the lane changes, and which image that is."""

from typing import Literal

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.oci import Digest
from lanewright.store.safepath import check


class ImageSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[image]``: what must be known of the base image.

    Attributes:
        site_packages: Absolute path of the folder in which the image's Python has ``vllm``.
        base: Name of the image that the lane is served in; ``rebase`` moves it with the pin.
        digest: Of the base, for the architecture.
        architecture: What the lane's machine is: ``arm64`` or ``amd64``.
    """

    site_packages: str
    base: str | None = None
    digest: Digest | None = None
    architecture: Literal["arm64", "amd64"] | None = None


def check_image(image: ImageSpec, place: str) -> None:
    """Check what types alone do not say.

    Raises:
        LanewrightError: A path that is none, or an image without its digest.
    """
    _check_site_packages(image.site_packages, f"{place} site_packages")
    if (image.base is None) != (image.digest is None):
        raise LanewrightError(
            f"{place} `base` and `digest` belong together: a tag alone may name another image later",
            hint="give both, or neither: `lanewright rebase` fills them in",
        )


def _check_site_packages(path: str, place: str) -> None:
    if not path.startswith("/"):
        raise LanewrightError(
            f"{place}: {path!r} is no absolute path",
            hint='write it as the image has it: "/usr/local/lib/python3.11/dist-packages"',
        )
    check(path[1:], source=f"{place} = {path!r}")
    if "/.wh." in path:
        raise LanewrightError(
            f"{place}: a part of {path!r} begins with .wh.: a removal, in a layer"
        )
