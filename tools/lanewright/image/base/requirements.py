"""What is installed into a base: the lane environment's locked list, less what a lane never runs."""

import re
from collections.abc import Iterable, Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lanewright.errors import LanewrightError
from lanewright.queue.series import Series

HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")
# Half of an image, and a CPU lane runs none of it: kernels, video.
UNUSED = ("opencv-python-headless", "torchaudio", "torchcodec", "torchvision")
INTERPRETER = "triton-interpreter"
COMPILED_DRAFTS = ("llvmlite", "numba")


def left_out(series: Series) -> tuple[str, ...]:
    """Distributions that a lane's base goes without, in alphabetical order."""
    names = set(UNUSED)
    if INTERPRETER not in series.boot.shims:
        names.add("triton")
    # vLLM finds n-gram drafts with numba.
    if not series.engine.get("speculative_config"):
        names.update(COMPILED_DRAFTS)
    return tuple(sorted(names))


def slimmed(text: str, without: Iterable[str], machine: str, place: str) -> str:
    """The requirements of one machine, each with its hashes, in the list's order.

    Args:
        text: A list as pip reads it: of every machine, pinned, with hashes.
        without: Distributions that are not wanted.
        machine: As Python names it.
        place: Where the list is from, for messages.

    Raises:
        LanewrightError: One is not pinned, or has no hash.
    """
    unwanted = {canonicalize_name(name) for name in without}
    lines = []
    for entry in _entries(text):
        requirement = Requirement(entry.partition("--hash")[0].strip())
        pin = str(requirement.specifier)
        hashes = HASH.findall(entry)
        if not pin.startswith("==") or not hashes:
            raise LanewrightError(f"{place}: {requirement.name} is not pinned with its hashes")
        marker = requirement.marker
        if canonicalize_name(requirement.name) in unwanted:
            continue
        if marker is None or marker.evaluate({"platform_machine": machine}):
            lines.append(line(requirement.name, pin.removeprefix("=="), *hashes))
    return "".join(lines)


def line(name: str, version: str, *hashes: str) -> str:
    """A requirement, as pip reads it."""
    return " ".join([f"{name}=={version}", *(f"--hash={each}" for each in hashes)]) + "\n"


def _entries(text: str) -> Iterator[str]:
    for entry in re.sub(r"\\\n", " ", text).splitlines():
        if entry.strip() and not entry.startswith("#"):
            yield entry
