"""What a pin stands for: a source, and the commit and tree it gives."""

from typing import Literal

import msgspec
from packaging.version import Version

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Device, Project
from lanewright.store.objects import CommitId, TreeId
from lanewright.store.release import Release, commit_of


class Pin(msgspec.Struct, frozen=True):
    """A pin, resolved: everything that ``ref`` means, by object id."""

    ref: str
    source: Literal["release"]
    distribution: str
    version: str
    commit: CommitId
    tree: TreeId

    @property
    def release(self) -> Release:
        """The release it stands for."""
        return Release(self.distribution, self.version)


def release_of(project: Project, device: Device, ref: str, *, place: str) -> Release:
    """Read a pin such as ``release:0.32.0``.

    Args:
        project: Says which distribution holds vLLM for a device.
        device: The lane's device.
        ref: The pin as written.
        place: Where it is written, for messages.

    Raises:
        LanewrightError: It is no such pin.
    """
    source, _, version = ref.partition(":")
    if source != "release" or not _is_version(version):
        raise LanewrightError(f"{place}: {ref!r} is no pin", hint='write it as "release:0.32.0"')
    if device not in project.upstream.releases:
        raise LanewrightError(f"upstream.toml names no release distribution for {device!r}")
    return Release(project.upstream.releases[device], version)


def _is_version(text: str) -> bool:
    """Whether this is a version, written as wheels' names write it."""
    try:
        return str(Version(text)) == text
    except ValueError:  # InvalidVersion, or more digits than Python reads
        return False


def resolve_pin(places: Places, release: Release) -> Pin:
    """Find a release's commit, fetching it when the store lacks it."""
    commit, tree = commit_of(places, release)
    return Pin(
        ref=f"release:{release.version}",
        source="release",
        distribution=release.distribution,
        version=release.version,
        commit=commit,
        tree=tree,
    )
