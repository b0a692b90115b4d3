"""``vllm/_version.py`` of an image: vLLM tells the lane, wherever it tells its version."""

import re

from lanewright.queue.pin import Pin
from lanewright.store.objects import TreeId

# What every wheel of vLLM has, and no tree: it is made when the wheel is.
VERSION_FILE = "vllm/_version.py"
TOLD = re.compile(rb"^__version__ = (?:version = )?[\"']([^\"']+)[\"']", re.MULTILINE)


def told_version(lane: str, pin: Pin, tree: TreeId) -> str:
    """The lane's version, as PEP 440 writes one: the pin's, then lane and tree."""
    commit = [f"g{pin.commit[:8]}"] if pin.source == "git" else []
    local = [*commit, "lane", *lane.split("-"), tree[:8]]
    return f"{pin.version}+{'.'.join(local)}"


def version_file(version: str) -> bytes:
    """The file that gives a version the names by which vLLM asks for it."""
    release, _, local = version.partition("+")
    numbers = tuple(int(part) for part in release.split(".") if part.isdecimal())
    parts = repr((*numbers, *([local] if local else [])))
    return f"""\
# Made by lanewright: the version of a lane.
__version__ = version = "{version}"
__version_tuple__ = version_tuple = {parts}
__commit_id__ = commit_id = None
""".encode()


def version_in(content: bytes) -> str | None:
    """The version that such a file tells, by whomever it was made."""
    found = TOLD.search(content)
    return found[1].decode(errors="replace") if found else None
