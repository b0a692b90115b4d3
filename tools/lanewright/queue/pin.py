"""What a pin stands for: a source, and the commit and tree it gives."""

from dataclasses import dataclass
from typing import Literal

import msgspec
from packaging.version import Version

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Device, Project
from lanewright.store.extract import pin_tree
from lanewright.store.objects import FULL_ID, CommitId, TreeId
from lanewright.store.release import Release, commit_of


class Pin(msgspec.Struct, frozen=True):
    """A pin, resolved: everything that ``ref`` means, by object id.

    Attributes:
        ref: As the series has it.
        source: Where its tree is from.
        distribution: Of the release that it is, or whose compiled files go with it.
        version: The same release's version.
        commit: The release's commit in the store, or upstream's own.
        tree: What a lane has of it: ``vllm/`` and nothing else.
    """

    ref: str
    source: Literal["release", "git"]
    distribution: str
    version: str
    commit: CommitId
    tree: TreeId

    @property
    def release(self) -> Release:
        """The release it is, or whose compiled files go with it."""
        return Release(self.distribution, self.version)


@dataclass(frozen=True)
class PinSpec:
    """A pin as written.

    Attributes:
        ref: The pin itself.
        release: The release that it is, or that goes with it.
        commit: Upstream's commit, where it is one.
    """

    ref: str
    release: Release
    commit: CommitId | None = None


def read_pin(
    project: Project, device: Device, ref: str, *, place: str, release: str | None = None
) -> PinSpec:
    """Read a pin such as ``release:0.32.0`` or ``git:`` and a commit's full id.

    Args:
        project: Says which distribution holds vLLM for a device.
        device: The lane's device.
        ref: The pin as written.
        place: Where it is written, for messages.
        release: Version of the release that goes with a git pin.

    Raises:
        LanewrightError: It is no such pin.
    """
    distribution = distribution_of(project, device)
    source, _, name = ref.partition(":")
    if source == "release" and is_version(name):
        if release is not None:
            raise LanewrightError(f"{place}: {ref} is a release itself; take `release` out")
        return PinSpec(ref, Release(distribution, name))
    if source == "git" and FULL_ID.fullmatch(name):
        if release is None or not is_version(release):
            raise LanewrightError(
                f"{place}: a git pin needs `release`, the version whose compiled files go with it"
                + (f" (it has {release!r})" if release else ""),
                hint='add the nearest one before the commit, written as in release = "0.32.0"',
            )
        return PinSpec(ref, Release(distribution, release), CommitId(name))
    raise LanewrightError(
        f"{place}: {ref!r} is no pin",
        hint='write it as "release:0.32.0", or as "git:" and all 40 digits of a commit\'s id',
    )


def distribution_of(project: Project, device: Device) -> str:
    """The distribution that holds vLLM for a device.

    Raises:
        LanewrightError: ``upstream.toml`` names none.
    """
    if device not in project.upstream.releases:
        raise LanewrightError(f"upstream.toml names no release distribution for {device!r}")
    return project.upstream.releases[device]


def is_version(text: str) -> bool:
    """Whether this is a version, written as wheels' names write it."""
    try:
        return str(Version(text)) == text
    except ValueError:  # InvalidVersion, or more digits than Python reads
        return False


def resolve_pin(project: Project, places: Places, spec: PinSpec) -> Pin:
    """Find a pin's commit and tree, fetching them when the store lacks them."""
    release = spec.release
    if spec.commit is None:
        commit, tree = commit_of(places, release)
        return Pin(spec.ref, "release", release.distribution, release.version, commit, tree)
    tree = pin_tree(places, project.upstream.remote, spec.commit)
    return Pin(spec.ref, "git", release.distribution, release.version, spec.commit, tree)
