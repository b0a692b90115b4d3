"""Which image an upstream commit has, for a lane that is served in upstream's own."""

from lanewright.errors import LanewrightError
from lanewright.image.nightly import Nightly, endpoint_of, nightlies
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import Series
from lanewright.store.git import Repository
from lanewright.store.history import is_ancestor
from lanewright.store.objects import CommitId, exists

MOST_OFFERED = 2


def newest_nightly(project: Project, series: Series, place: str) -> Nightly:
    """The newest commit that has an image for the lane's architecture.

    Raises:
        LanewrightError: There is none, or the lane does not say what it needs.
    """
    found = _nightlies(project, series, place)
    if not found:
        raise LanewrightError(
            f"{place}: no nightly image for {series.image and series.image.architecture}"
            f" in {_repository(project, place)}",
            hint="pin a commit of which you have an image: lanewright rebase --to git:COMMIT",
        )
    return found[0]


def require_image(
    project: Project, places: Places, series: Series, commit: CommitId, place: str
) -> Nightly | None:
    """The image of a commit; None for a lane that is not served in one of upstream's.

    Raises:
        LanewrightError: It has none; the nearest that have are offered.
    """
    if series.image is None or series.image.architecture is None:
        return None
    found = _nightlies(project, series, place)
    for each in found:
        if each.commit == commit:
            return each
    told = "; ".join(_offers(Repository(places.objects), found, commit)) or "none is near"
    raise LanewrightError(
        f"{place}: commit {commit} has no image for {series.image.architecture}"
        f" in {_repository(project, place)}; the nearest that have: {told}",
        hint="lanewright rebase --to git:COMMIT with one of those, or --to nightly",
    )


def image_of(series: Series, nightly: Nightly) -> str:
    """The image's name with its tag."""
    base = series.image.base if series.image else None
    name = base.rpartition(":")[0] if base else "docker.io/vllm/vllm-openai"
    return f"{name}:{nightly.tag}"


def _nightlies(project: Project, series: Series, place: str) -> list[Nightly]:
    architecture = series.image.architecture if series.image else None
    if architecture is None:
        raise LanewrightError(
            f"{place}: which architecture is its image for?",
            hint='add architecture = "arm64" to its table [image]',
        )
    return nightlies(endpoint_of(_repository(project, place)), architecture)


def _repository(project: Project, place: str) -> str:
    images = project.upstream.git.images if project.upstream.git else None
    if images is None:
        raise LanewrightError(
            f"{place}: upstream.toml names no repository of images",
            hint='add images = "docker.io/vllm/vllm-openai" to its table [git]',
        )
    return images


def _offers(repository: Repository, found: list[Nightly], commit: CommitId) -> list[str]:
    """The nearest commits with an image, before and after; ``found`` is newest first."""
    known = [each for each in found if exists(repository, [each.commit])]
    before = [n for n in known if is_ancestor(repository, CommitId(n.commit), commit)]
    after = [n for n in known if is_ancestor(repository, commit, CommitId(n.commit))]
    offers = [
        f"{n.commit} ({n.pushed}, {_count(repository, n.commit, commit)} before it)"
        for n in before[:1]
    ]
    offers += [
        f"{n.commit} ({n.pushed}, {_count(repository, commit, n.commit)} after it)"
        for n in after[-1:]
    ]
    return offers or [f"{n.commit} ({n.pushed})" for n in found[:MOST_OFFERED]]


def _count(repository: Repository, one: str, other: str) -> str:
    output = repository.run("rev-list", "--count", f"{one}..{other}")
    return f"{int(output.stdout)} commits"
