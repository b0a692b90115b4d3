"""Which image an upstream commit has, for a lane that is served in upstream's own."""

from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.image.nightly import Nightly, endpoint_of, nightlies
from lanewright.places import Places
from lanewright.project import Project, Serving
from lanewright.queue.pull.pulls import main_ref, need_remote
from lanewright.queue.series import Series
from lanewright.queue.series_image import ImageSpec
from lanewright.store.fetching import fetch_refs
from lanewright.store.git import Repository
from lanewright.store.history import is_ancestor
from lanewright.store.objects import CommitId, exists

MOST_OFFERED = 2


@dataclass(frozen=True)
class Base:
    """An image to serve a lane in.

    Attributes:
        name: Its name with its tag.
        digest: Its digest.
        index: That of the list which has it, where that is known.
    """

    name: str
    digest: str
    index: str | None = None


def newest_nightly(project: Project, series: Series, place: str) -> tuple[Nightly, Base]:
    """The newest commit that has an image for the lane's architecture, and that image.

    Raises:
        LanewrightError: There is none, or the lane does not say what it needs.
    """
    image = _image_of(series, place)
    found = _nightlies(project, image, place)
    if not found:
        raise LanewrightError(
            f"{place}: no nightly image for {image.architecture} in {_images(project, place)}",
            hint="pin a commit of which you have an image: lanewright rebase --to git:COMMIT",
        )
    return found[0], _base(project, image, found[0], place)


def require_image(
    project: Project, places: Places, series: Series, commit: CommitId, place: str
) -> Base | None:
    """The image of a commit.

    Returns:
        None for a lane that is not served in one of upstream's, and for one that stands on the
        commit already with its image locked: upstream may have removed that since.

    Raises:
        LanewrightError: It has none; the nearest that have are offered.
    """
    image = series.image
    if image is None or not (image.architecture or image.base):
        return None
    if image.digest and series.pin == f"git:{commit}":
        return None
    image = _image_of(series, place)
    found = _nightlies(project, image, place)
    for each in found:
        if each.commit == commit:
            return _base(project, image, each, place)
    told = "; ".join(_offers(project, places, found, commit)) or "none at all"
    raise LanewrightError(
        f"{place}: commit {commit} has no image for {image.architecture}"
        f" in {_images(project, place)}; the nearest that have one: {told}",
        hint="lanewright rebase --to git:COMMIT with one of those, or --to nightly",
    )


def base_of_serving(serving: Serving, series: Series) -> Base | None:
    """The image of ``[serving]``; None for a lane that is not served in one of upstream's."""
    image = series.image
    if image is None or not (image.architecture or image.base):
        return None
    return Base(serving.image, serving.digest)


def _image_of(series: Series, place: str) -> ImageSpec:
    if series.image is None or series.image.architecture is None:
        raise LanewrightError(
            f"{place}: which architecture is its image for?",
            hint='add architecture = "arm64", or "amd64", to its table [image]',
        )
    return series.image


def _nightlies(project: Project, image: ImageSpec, place: str) -> list[Nightly]:
    return nightlies(endpoint_of(_images(project, place)), image.architecture or "")


def _base(project: Project, image: ImageSpec, nightly: Nightly, place: str) -> Base:
    """A nightly under the name that the lane's image has now, else under upstream's."""
    name = image.base or _images(project, place)
    if "://" in name:
        raise LanewrightError(
            f"{place}: what is its image called? upstream.toml gives only the address of a list",
            hint='add base = "docker.io/vllm/vllm-openai:TAG" and its digest to the table [image]',
        )
    folder, slash, last = name.partition("@")[0].rpartition("/")
    return Base(
        f"{folder}{slash}{last.partition(':')[0]}:{nightly.tag}", nightly.digest, nightly.index
    )


def _images(project: Project, place: str) -> str:
    images = project.upstream.git.images if project.upstream.git else None
    if images is None:
        raise LanewrightError(
            f"{place}: upstream.toml names no repository of images",
            hint='add images = "docker.io/vllm/vllm-openai" to its table [git]',
        )
    return images


def _offers(project: Project, places: Places, found: list[Nightly], commit: CommitId) -> list[str]:
    """The nearest commits with an image, before and after; any where none is in their line."""
    fetch_refs(places, need_remote(project), [main_ref(project)])  # knows what came after
    repository = Repository(places.objects)
    before: list[tuple[int, Nightly]] = []
    after: list[tuple[int, Nightly]] = []
    for each in found:
        other = CommitId(each.commit)
        if not exists(repository, [other]):
            continue
        if is_ancestor(repository, other, commit):
            before.append((_count(repository, other, commit), each))
        elif is_ancestor(repository, commit, other):
            after.append((_count(repository, commit, other), each))
    offers = [
        f"{each.commit} ({each.pushed}, {count} {'commit' if count == 1 else 'commits'} {where})"
        for near, where in ((before, "before it"), (after, "after it"))
        for count, each in sorted(near, key=lambda pair: pair[0])[:1]
    ]
    return offers or [f"{each.commit} ({each.pushed})" for each in found[:MOST_OFFERED]]


def _count(repository: Repository, one: CommitId, other: CommitId) -> int:
    return int(repository.run("rev-list", "--count", f"{one}..{other}").stdout)
