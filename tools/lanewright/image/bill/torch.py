"""The wheel of torch in a base that was made here: its list has no hash of it, and its labels do."""

import re
from collections.abc import Mapping

from lanewright.image.stamps import PREFIX

WHEEL = re.compile(r"sha256:([0-9a-f]{64})")


def torch_wheel(labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Version and sha256, in hex, of a base's torch; None where the base does not tell.

    Args:
        labels: Of the base. One that an earlier lanewright made has the version alone.
    """
    version = labels.get(f"{PREFIX}base.torch")
    digest = WHEEL.fullmatch(labels.get(f"{PREFIX}base.torch-wheel", ""))
    return (version, digest[1]) if version and digest else None
