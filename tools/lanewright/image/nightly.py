"""The newest upstream commits that have an image, as Docker Hub lists them."""

import re
import time
from dataclasses import dataclass
from typing import Annotated

import msgspec

from lanewright.errors import LanewrightError, UnreachedError
from lanewright.store.web import WebError, follow, get_json

API = "https://hub.docker.com/v2/repositories"
SECONDS = 20.0
MOST_BYTES = 4 * 2**20
MOST_PAGES = 5
HINT = "see that the network is up, or name the commit yourself: `--to git:SHA`"
IMAGE = re.compile(
    r"(?:(?:index\.)?docker\.io/)?(?!localhost/)"
    r"(?P<owner>[a-z0-9_-]+)/(?P<name>[a-z0-9]+(?:[._-]+[a-z0-9]+)*)"
)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
TAG = re.compile(r"nightly-([0-9a-f]{40})")

Time = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")]
TO_SECONDS = len("2026-09-28T00:00:00")


@dataclass(frozen=True)
class Nightly:
    """An image made of an upstream commit.

    Attributes:
        commit: Full id of the commit.
        digest: Digest of the image for one architecture.
        index: Digest of the index over all architectures, where it is told.
        pushed: When the image came, as ISO 8601 in UTC.
        tag: Its name on the hub.
    """

    commit: str
    digest: str
    index: str | None
    pushed: str
    tag: str


class _Image(msgspec.Struct, frozen=True):
    architecture: str | None
    os: str | None
    digest: str | None = None
    last_pushed: Time | None = None


class _Tag(msgspec.Struct, frozen=True):
    name: str
    last_updated: Time
    images: list[_Image]
    digest: str | None = None


class _Page(msgspec.Struct, frozen=True):
    results: list[_Tag]
    next: str | None = None


def endpoint_of(image: str) -> str:
    """The API's address of an image's repository.

    Args:
        image: Name without tag or digest, e.g. ``docker.io/vllm/vllm-openai``; or, for another
            server with the same API, that address itself.

    Raises:
        LanewrightError: It is not Docker Hub's.
    """
    if image.startswith(("https://", "http://")):
        return image
    found = IMAGE.fullmatch(image)
    if not found:
        raise LanewrightError(
            f"cannot list the images of {image!r}: not written as docker.io/OWNER/NAME",
            hint="name the commit yourself: `--to git:SHA`",
        )
    return f"{API}/{found['owner']}/{found['name']}"


def nightlies(endpoint: str, architecture: str, *, timeout: float = SECONDS) -> list[Nightly]:
    """Commits with an image for an architecture, the one pushed last first.

    Args:
        endpoint: The repository's address in the API.
        architecture: As Go names it, e.g. ``arm64``.
        timeout: Seconds for all pages together.

    Raises:
        LanewrightError: The hub cannot be reached, or answers with something else.
    """
    deadline = time.monotonic() + timeout
    url: str | None = f"{endpoint.rstrip('/')}/tags?page_size=100&name=nightly-"
    found: dict[str, Nightly] = {}
    try:
        for _ in range(MOST_PAGES):
            if url is None:
                break
            left = max(deadline - time.monotonic(), 0)
            page = get_json(url, _Page, timeout=left, most_bytes=MOST_BYTES)
            # A push between two pages moves a tag from one to the next.
            found = {each.tag: each for each in _read(page, architecture)} | found
            url = page.next and follow(url, page.next)
    except WebError as error:
        kind = UnreachedError if isinstance(error, UnreachedError) else LanewrightError
        raise kind(f"no list of nightly images: {error}", hint=HINT) from error
    return sorted(found.values(), key=lambda each: (each.pushed, each.tag), reverse=True)


def _read(page: _Page, architecture: str) -> list[Nightly]:
    read = []
    for tag in page.results:
        commit = TAG.fullmatch(tag.name)
        for image in tag.images if commit else ():
            # One that is still being pushed has no digest yet.
            if (image.os, image.architecture) == ("linux", architecture) and image.digest:
                pushed = (image.last_pushed or tag.last_updated)[:TO_SECONDS] + "Z"
                digest, index = _digest(tag, image.digest), tag.digest and _digest(tag, tag.digest)
                read.append(Nightly(tag.name[-40:], digest, index or None, pushed, tag.name))
                break
    return read


def _digest(tag: _Tag, text: str) -> str:
    if not DIGEST.fullmatch(text):
        raise WebError(f"{tag.name} has the digest {text[:100]!a}, which is none")
    return text
