"""Where a rebase takes a lane: a release, a tag, a branch, a commit, or the newest nightly image."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from packaging.version import Version

from lanewright.errors import LanewrightError
from lanewright.image.nightly import Nightly
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edit import with_value
from lanewright.queue.images import image_of, newest_nightly, require_image
from lanewright.queue.pin import is_version
from lanewright.queue.pulls import need_remote
from lanewright.queue.series import Series
from lanewright.store.fetching import fetch_commits, fetch_refs, list_tags
from lanewright.store.objects import FULL_ID, CommitId
from lanewright.store.pip import newest
from lanewright.store.remote import check_ref

RELEASE_TAG = re.compile(r"v(\d[0-9A-Za-z.]*)")
PIN = re.compile(r"(?:release|git):(.*)")


@dataclass(frozen=True)
class Target:
    """What a lane's series says once it is rebased.

    Attributes:
        pin: Its pin.
        release: The release that goes with a git pin.
        image: The image of the pin, where the lane is served in one.
    """

    pin: str
    release: str | None = None
    image: Nightly | None = None


def target_of(
    project: Project, places: Places, lane: str, series: Series, to: str | None
) -> Target:
    """Find what a ref stands for now.

    Args:
        project: Says where upstream is.
        places: Store and state.
        lane: The lane's name, for messages.
        series: What it says now.
        to: A version, ``release``, a tag, a branch, a commit's id, or ``nightly``; by default what
            the series tracks, and for a release the newest release.

    Raises:
        LanewrightError: It stands for nothing, or has no image that the lane could be served in.
    """
    is_release = series.pin.startswith("release:")
    wanted = to or series.track or ("release" if is_release else None)
    place = f"series/{lane}.toml"
    if wanted is None:
        raise LanewrightError(
            f"{place}: nothing says where its git pin goes",
            hint='set `track`, e.g. track = "nightly", or name it: lanewright rebase --to REF',
        )
    if wanted == "release":
        return Target(f"release:{newest(project.upstream.releases[series.device])}")
    if wanted == "serving" and project.upstream.serving:
        wanted = f"git:{project.upstream.serving.commit}"
    name = wanted.removeprefix("release:")
    if is_version(name) and (is_release or name != wanted):
        return Target(f"release:{name}")
    return _of_git(project, places, series, wanted, place)


def _of_git(project: Project, places: Places, series: Series, wanted: str, place: str) -> Target:
    remote = need_remote(project)
    release = series.release or PIN.fullmatch(series.pin)[1]  # type: ignore[index]
    if wanted == "nightly":
        nightly = newest_nightly(project, series, place)
        fetch_commits(places, remote, [CommitId(nightly.commit)])
        return Target(f"git:{nightly.commit}", release, nightly)
    full = wanted.removeprefix("git:")
    if FULL_ID.fullmatch(full):
        commit = CommitId(full)
        fetch_commits(places, remote, [commit])
    else:
        ref = _ref_of(project, places, wanted, place)
        commit = fetch_refs(places, remote, [ref])[ref]
        tagged = RELEASE_TAG.fullmatch(ref.removeprefix("refs/tags/"))
        release = tagged[1] if tagged and is_version(tagged[1]) else release
    image = require_image(project, places, series, commit, place)
    return Target(f"git:{commit}", release, image)


def _ref_of(project: Project, places: Places, wanted: str, place: str) -> str:
    """The full name of a branch or tag at the remote.

    Raises:
        LanewrightError: There is no such tag.
    """
    remote = need_remote(project)
    pattern = wanted.removeprefix("tag:")
    if pattern == wanted and not RELEASE_TAG.fullmatch(wanted):
        return f"refs/heads/{check_ref(wanted, place=f'{place}: --to')}"
    tags = [tag for tag in list_tags(places, remote) if fnmatchcase(tag, pattern)]
    versions = {tag: found[1] for tag in tags if (found := RELEASE_TAG.fullmatch(tag))}
    sound = [tag for tag, version in versions.items() if is_version(version)]
    if not sound:
        raise LanewrightError(
            f"{place}: {remote.url} has no release tag {pattern!r}",
            hint=f"git ls-remote --tags {remote.url}",
        )
    return f"refs/tags/{max(sound, key=lambda tag: Version(versions[tag]))}"


def with_target(text: str, series: Series, target: Target) -> str:
    """The series at its target; an image goes with the pin."""
    text = with_value(text, ("pin",), target.pin)
    if target.release != series.release:
        text = with_value(text, ("release",), target.release)
    if series.image and target.image:
        text = with_value(text, ("image", "base"), image_of(series, target.image))
        text = with_value(text, ("image", "digest"), target.image.digest)
    return text
