"""The Containerfile of a lane: the package's own, with the lane's values and labels."""

import re
from collections.abc import Mapping
from importlib.resources import files

from lanewright.errors import LanewrightError
from lanewright.image.stamps import REVISION, lane_stamps
from lanewright.image.told_version import told_version
from lanewright.queue.lock import Lock
from lanewright.queue.series import Series
from lanewright.store.remote import Remote

TEMPLATE = files("lanewright.image.source") / "Containerfile"
TAG = re.compile(r":[^:/]+$")


def containerfile(series: Series, lock: Lock, remote: Remote | None) -> str:
    """What builds a lane's image from source.

    Args:
        series: Of the lane.
        lock: Of the lane.
        remote: Where upstream's source is fetched from, unless a clone is handed over.

    Raises:
        LanewrightError: A value cannot stand on a line.
    """
    image = series.image
    values = {
        "BASE": base_of(lock),
        "REMOTE": remote.url if remote else None,
        "TORCH_CUDA_ARCH_LIST": image.arch_list if image else None,
        "VLLM_TARGET_DEVICE": series.device,
        "VERSION": told_version(lock.lane, lock.pin, lock.tree),
        "DISTRIBUTION": lock.pin.distribution,
    }
    text = TEMPLATE.read_text("utf-8")
    for name, value in values.items():
        if value is not None:
            text = text.replace(f"\nARG {name}\n", f"\nARG {name}={_quoted(value)}\n")
    return f"{text}{_labels(source_stamps(lock))}"


def base_of(lock: Lock) -> str | None:
    """The lane's base by its digest alone: not every builder reads a tag beside it."""
    return f"{TAG.sub('', lock.base.name)}@{lock.base.digest}" if lock.base else None


def source_stamps(lock: Lock) -> dict[str, str]:
    """What an image that was built from source says of itself; its builder keeps what the base says."""
    said = {
        # Nor is the base's the lane's, where the pin has none.
        REVISION: "",
        **lane_stamps(lock),
        "org.opencontainers.image.version": told_version(lock.lane, lock.pin, lock.tree),
    }
    if lock.base:
        said["org.opencontainers.image.base.name"] = lock.base.name
        said["org.opencontainers.image.base.digest"] = lock.base.digest
    return dict(sorted(said.items()))


def _labels(said: Mapping[str, str]) -> str:
    lines = [f"{key}={_quoted(value)}" for key, value in said.items()]
    return "LABEL " + " \\\n      ".join(lines) + "\n"


def _quoted(value: str) -> str:
    if not value.isprintable():
        raise LanewrightError(f"{value!r} cannot stand in a Containerfile")
    escaped = re.sub(r'(["\\$])', r"\\\1", value)
    return f'"{escaped}"'
