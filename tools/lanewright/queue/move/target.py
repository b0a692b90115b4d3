"""Where a rebase takes a lane: a release, a tag, a branch, a commit, or the newest nightly image."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edit.edit import with_value
from lanewright.queue.move.images import Base, base_of_serving, newest_nightly, require_image
from lanewright.queue.pin import PinSpec, distribution_of, is_version, read_pin
from lanewright.queue.pull.pulls import need_remote
from lanewright.queue.series import Series
from lanewright.store.complaint import AbsentError
from lanewright.store.fetching import fetch_commits, fetch_refs, list_tags
from lanewright.store.objects import FULL_ID, CommitId
from lanewright.store.pip import newest
from lanewright.store.remote import Remote, check_ref
from lanewright.terminal import quoted

RELEASE_TAG = re.compile(r"v(\d[0-9A-Za-z.]*)")
ABBREVIATED = re.compile(r"[0-9a-f]{4,39}")


@dataclass(frozen=True)
class Target:
    """What a lane's series says once it is rebased.

    Attributes:
        pin: Its pin.
        release: The release that goes with a git pin.
        base: The image of the pin, where the lane is served in one and it is another than before.
    """

    pin: str
    release: str | None = None
    base: Base | None = None


def target_of(
    project: Project, places: Places, lane: str, series: Series, to: str | None
) -> Target:
    """Find what a ref stands for now.

    Args:
        project: Says where upstream is.
        places: Store and state.
        lane: The lane's name, for messages.
        series: What it says now.
        to: A version, ``release``, a tag, a branch, a commit's id, ``nightly``, or ``serving``; by
            default what the series tracks, and for a release the newest release.

    Raises:
        LanewrightError: It stands for nothing, or has no image that the lane could be served in.
    """
    place = f"series/{lane}.toml"
    pin = read_pin(
        project, series.device, series.pin, place=f"{place}: pin", release=series.release
    )
    wanted = to or series.track or ("release" if pin.commit is None else None)
    if wanted is None:
        raise LanewrightError(
            f"{place}: nothing says where its git pin goes",
            hint='set `track`, e.g. track = "nightly", or name it: lanewright rebase --to REF',
        )
    own = series.image is None or not (series.image.architecture or series.image.base)
    if wanted == "nightly" and series.device == "cpu" and own:
        raise LanewrightError(
            f"{place}: a CPU lane has no nightly image: upstream's are for CUDA, and its own is made"
            " here",
            hint=f"lanewright rebase --lane {lane} --to release, or to a branch for"
            " upstream's newest commit",
        )
    if wanted == "release":
        return Target(f"release:{_newest(project, series, pin)}")
    name = wanted.removeprefix("release:")
    if is_version(name) and (pin.commit is None or name != wanted):
        return Target(f"release:{name}")
    if name != wanted:
        raise LanewrightError(
            f"{place}: {wanted!r} is no release", hint="write it as release:0.32.0"
        )
    return _of_git(project, places, series, pin, wanted, place)


def _newest(project: Project, series: Series, pin: PinSpec) -> str:
    """The newest release; of a lane on a newer one, such as a wheel handed over, its own."""
    found = newest(distribution_of(project, series.device))
    if pin.commit is None:
        return max(found, pin.release.version, key=Version)
    return found


def _of_git(
    project: Project, places: Places, series: Series, pin: PinSpec, wanted: str, place: str
) -> Target:
    remote = need_remote(project)
    release = pin.release.version
    serving = project.upstream.serving
    if wanted == "nightly":
        nightly, base = newest_nightly(project, series, place)
        fetch_commits(places, remote, [CommitId(nightly.commit)])
        return Target(f"git:{nightly.commit}", release, base)
    if wanted == "serving" and serving:
        fetch_commits(places, remote, [CommitId(serving.commit)])
        return Target(f"git:{serving.commit}", release, base_of_serving(serving, series))
    full = wanted.removeprefix("git:")
    if FULL_ID.fullmatch(full):
        commit = CommitId(full)
        fetch_commits(places, remote, [commit])
    elif full != wanted:
        raise LanewrightError(
            f"{place}: {wanted!r} names no commit: its id is written with all 40 digits",
            hint=f"git ls-remote {quoted(remote.url)} shows the ids of branches and tags",
        )
    else:
        ref = _ref_of(places, remote, wanted, place)
        commit = _fetched(places, remote, ref, wanted, place)
        release = _version_of(ref.removeprefix("refs/tags/")) or release
    image = require_image(project, places, series, commit, place)
    return Target(f"git:{commit}", release, image)


def _fetched(places: Places, remote: Remote, ref: str, wanted: str, place: str) -> CommitId:
    try:
        return fetch_refs(places, remote, [ref])[ref]
    except AbsentError as error:
        hint = error.hint
        if ABBREVIATED.fullmatch(wanted):
            hint = "if it is a commit's id, write all 40 digits: a short one may name another later"
        elif is_version(wanted):
            hint = f"a git lane goes to release:{wanted}, or to upstream's tag v{wanted}"
        raise AbsentError(f"{place}: --to {wanted}: {error}", hint=hint) from error


def _ref_of(places: Places, remote: Remote, wanted: str, place: str) -> str:
    """The full name of a branch or tag at the remote.

    Raises:
        LanewrightError: There is no such tag.
    """
    pattern = wanted.removeprefix("tag:")
    if pattern == wanted and not RELEASE_TAG.fullmatch(wanted):
        return f"refs/heads/{check_ref(wanted, place=f'{place}: --to')}"
    tags = list_tags(places, remote)
    if pattern in tags:
        return f"refs/tags/{pattern}"
    if pattern == wanted:
        return f"refs/heads/{wanted}"
    versions = {v: tag for tag in tags if fnmatchcase(tag, pattern) and (v := _version_of(tag))}
    # As pip does: one that is made before a release counts only where there is nothing else.
    sound = list(SpecifierSet().filter(versions))
    if not sound:
        raise LanewrightError(
            f"{place}: {remote.url} has no release tag {pattern!r}",
            hint=f"git ls-remote --tags {quoted(remote.url)}",
        )
    return f"refs/tags/{versions[max(sound, key=Version)]}"


def _version_of(tag: str) -> str | None:
    found = RELEASE_TAG.fullmatch(tag)
    return found[1] if found and is_version(found[1]) else None


def with_target(text: str, series: Series, target: Target) -> str:
    """The series at its target; an image goes with the pin, and an old one does not stay."""
    text = with_value(text, ("pin",), target.pin)
    text = with_value(text, ("release",), target.release)
    if series.image and (target.base or target.pin != series.pin):
        base = target.base
        text = with_value(text, ("image", "base"), base and base.name)
        text = with_value(text, ("image", "digest"), base and base.digest)
        text = with_value(text, ("image", "index"), base and base.index)
    return text
