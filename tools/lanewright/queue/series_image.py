"""``[image]`` of a series: where an image has what the lane changes, and which image that is."""

from typing import Literal

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.oci import Digest
from lanewright.queue.series_run import RunSpec, check_run
from lanewright.store.safepath import check

# What of a layer's making is not in a series; it moves with what lanewright puts into a layer.
LAYER_FORM = 2
Architecture = Literal["arm64", "amd64"]


class ImageSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[image]``: what must be known of the base image.

    Attributes:
        site_packages: Absolute path of the folder in which the image's Python has ``vllm``; of a
            lane that is built from source its build finds it.
        base: Name of the image that the lane is served in; ``rebase`` moves it with the pin.
        digest: Of the base, for the architecture.
        index: Of the list that has the base for several architectures.
        architecture: What the lane's machine is: ``arm64`` or ``amd64``.
        run: What a container of it is run with.
        kind: ``overlay``: what the lane changes is a layer on the base; ``source``: it is compiled
            on the base, and the lane has no layer.
        arch_list: Compute capabilities that CUDA code is compiled for: ``10.3a``.
    """

    site_packages: str = ""
    base: str | None = None
    digest: Digest | None = None
    index: Digest | None = None
    architecture: Architecture | None = None
    run: RunSpec | None = None
    kind: Literal["overlay", "source"] = "overlay"
    arch_list: str | None = None


def check_image(image: ImageSpec, place: str) -> None:
    """Check what types alone do not say.

    Raises:
        LanewrightError: A path that is none, an image without its digest, or as ``check_run`` says.
    """
    if image.kind == "overlay":
        _check_site_packages(image.site_packages, f"{place} site_packages")
    elif image.site_packages:
        raise LanewrightError(
            f"{place} `site_packages` is where a layer goes, and a lane built from source has none",
            hint="take it out",
        )
    if image.arch_list and image.kind != "source":
        raise LanewrightError(f'{place} `arch_list` is for a lane with `kind = "source"`')
    if (image.base is None) != (image.digest is None):
        raise LanewrightError(
            f"{place} `base` and `digest` belong together: a tag alone may name another image later",
            hint="give both, or neither: `lanewright rebase` fills them in",
        )
    if image.index and not image.digest:
        raise LanewrightError(f"{place} `index` is of a base, and there is no `base`")
    if image.run:
        check_run(image.run, image.site_packages, f"{place[:-1]}.run]")


def _check_site_packages(path: str, place: str) -> None:
    if not path.startswith("/"):
        what = f"{path!r} is no absolute path" if path else "it is missing"
        raise LanewrightError(
            f"{place}: {what}",
            hint='write it as the image has it: "/usr/local/lib/python3.11/dist-packages"',
        )
    check(path[1:], source=f"{place} = {path!r}")
    if "/.wh." in path:
        raise LanewrightError(
            f"{place}: a part of {path!r} begins with .wh.: a removal, in a layer"
        )
