"""Nightly images, as a registry's API lists them over real sockets."""

import random
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from lanewright.errors import LanewrightError
from lanewright.image.nightly import MOST_BYTES, MOST_PAGES, Nightly, endpoint_of, nightlies
from tests.upstream.web import Answer, Web, serving

DEADLINE = 0.3
ARCHES = ("amd64", "arm64")
FIRST = "/tags?page_size=100&name=nightly-"


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as server:
        yield server


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def image(architecture: str, number: int, **more: object) -> dict[str, object]:
    return {"architecture": architecture, "os": "linux", "digest": digest(number), **more}


def tag(day: int, **more: object) -> dict[str, Any]:
    """A tag pushed on a day of a month, for two architectures."""
    pushed = f"2026-09-{day:02}T08:00:00.123456Z"
    images = [image(name, day * 10 + at, last_pushed=pushed) for at, name in enumerate(ARCHES)]
    return {
        "name": f"nightly-{day:040x}",
        "last_updated": "2026-10-01T00:00:00Z",
        "digest": digest(day),
        "images": images,
        **more,
    }


def nightly(day: int, **more: str | None) -> Nightly:
    """What is read of that tag for arm64."""
    fields = {
        "commit": f"{day:040x}",
        "digest": digest(day * 10 + 1),
        "index": digest(day),
        "pushed": f"2026-09-{day:02}T08:00:00Z",
        "tag": f"nightly-{day:040x}",
    }
    return msgspec.convert({**fields, **more}, Nightly)


def page(*tags: dict[str, Any], following: str | None = None) -> Answer:
    return Answer({"count": 1, "next": following, "previous": None, "results": list(tags)})


def test_the_newest_comes_first_whatever_the_order(web: Web) -> None:
    days = list(range(1, 15))
    random.Random(5).shuffle(days)  # noqa: S311 - any order will do
    web.answers[FIRST] = page(*map(tag, days))
    assert nightlies(web.url, "arm64") == [nightly(day) for day in range(14, 0, -1)]
    assert [asked.path for asked in web.asked] == [FIRST]


def test_each_architecture_has_its_own_digest(web: Web) -> None:
    web.answers[FIRST] = page(tag(1))
    assert nightlies(f"{web.url}/", "amd64") == [nightly(1, digest=digest(10))]
    assert nightlies(web.url, "s390x") == []


def test_no_images_at_all(web: Web) -> None:
    web.answers[FIRST] = page()
    assert nightlies(web.url, "arm64") == []


@pytest.mark.parametrize(
    "name",
    [
        "nightly",
        f"nightly-{'a' * 39}",
        f"nightly-{'a' * 41}",
        f"nightly-{'A' * 40}",
        f"nightly-{'a' * 40}-cu129",
        f"x-nightly-{'a' * 40}",
        f"nightly-{'a' * 40}\n",
    ],
)
def test_a_tag_of_another_form_is_skipped(web: Web, name: str) -> None:
    web.answers[FIRST] = page(tag(1), tag(2, name=name, digest="none"))
    assert nightlies(web.url, "arm64") == [nightly(1)]


@pytest.mark.parametrize(
    "images",
    [
        [],
        [image("amd64", 1)],
        [image("arm64", 1, os="windows")],
        [image("arm64", 1, digest=None)],
        [image("arm64", 1, digest="")],
        [{"architecture": "unknown", "os": "unknown", "digest": digest(1)}],
    ],
)
def test_an_image_without_the_architecture_is_skipped(web: Web, images: list[object]) -> None:
    web.answers[FIRST] = page(tag(1), tag(2, images=images))
    assert nightlies(web.url, "arm64") == [nightly(1)]


@pytest.mark.parametrize("index", [None, "", "absent"])
def test_an_index_that_is_not_told(web: Web, index: str | None) -> None:
    untold = tag(1, digest=index)
    if index == "absent":
        del untold["digest"]
    web.answers[FIRST] = page(untold)
    assert nightlies(web.url, "arm64") == [nightly(1, index=None)]


def test_a_push_that_is_not_told_for_the_image_is_the_tags(web: Web) -> None:
    web.answers[FIRST] = page(tag(1, images=[image("arm64", 11, last_pushed=None)]), tag(2))
    assert nightlies(web.url, "arm64") == [nightly(1, pushed="2026-10-01T00:00:00Z"), nightly(2)]


def test_pages_are_followed_and_a_tag_on_two_counts_once(web: Web) -> None:
    web.answers[FIRST] = page(tag(3), tag(2), following=f"{web.url}/tags?page=2")
    web.answers["/tags?page=2"] = page(tag(2), tag(1), following="/tags?page=3")
    web.answers["/tags?page=3"] = page(tag(4))
    assert nightlies(web.url, "arm64") == [nightly(day) for day in (4, 3, 2, 1)]


def test_pages_without_end_are_not_followed_without_end(web: Web) -> None:
    web.answers[FIRST] = page(tag(1), following=FIRST)
    assert nightlies(web.url, "arm64") == [nightly(1)]
    assert len(web.asked) == MOST_PAGES


def test_a_page_on_another_server_is_not_asked_for(web: Web) -> None:
    with serving() as other:
        other.answers["/"] = page(tag(2))
        web.answers[FIRST] = page(tag(1), following=f"{other.url}/")
        with pytest.raises(LanewrightError, match="refers to another server"):
            nightlies(web.url, "arm64")
        assert other.asked == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(status=404), "answered 404"),
        (Answer(status=429), "its rate limit is reached"),
        (Answer(b"<html>"), "something else than expected"),
        (Answer({"results": None}), "$.results"),
        (Answer({}), "results"),
        (page(tag(1, last_updated="yesterday")), "$.results[0].last_updated"),
        (page(tag(1, digest="sha256:0")), f"nightly-{1:040x} has the digest 'sha256:0'"),
        (page(tag(1, digest=f"sha512:{1:064x}")), "which is none"),
        (page(tag(1, images=[image("arm64", 1, digest=f"{digest(1)}\n")])), "which is none"),
        (page(tag(1, digest="\x1b[2J")), r"'\x1b[2J', which is none"),
        (Answer(b" " * (MOST_BYTES + 1)), "answered with more than"),
    ],
)
def test_a_failure_says_how_to_do_without(web: Web, answer: Answer, why: str) -> None:
    web.answers[FIRST] = answer
    with pytest.raises(LanewrightError, match=re.escape(why)) as caught:
        nightlies(web.url, "arm64")
    assert str(caught.value).startswith("no list of nightly images: ")
    assert "--to git:SHA" in (caught.value.hint or "")


def test_no_network() -> None:
    with serving() as gone:
        endpoint = gone.url
    with pytest.raises(LanewrightError, match="gave no answer") as caught:
        nightlies(endpoint, "arm64")
    assert "--to git:SHA" in (caught.value.hint or "")


def test_a_slow_server(web: Web) -> None:
    web.answers[FIRST] = Answer(drip="headers")
    with pytest.raises(LanewrightError, match=r"gave no whole answer within 0\.3 s"):
        nightlies(web.url, "arm64", timeout=DEADLINE)


def test_a_later_page_has_only_what_is_left_of_the_time(web: Web) -> None:
    web.answers[FIRST] = page(tag(1), following="/2")
    web.answers["/2"] = page(tag(2), following="/3")
    web.answers["/3"] = page(tag(3), following="/4")
    web.answers["/4"] = Answer(drip="body")
    with pytest.raises(LanewrightError, match="/4 gave no whole answer within") as caught:
        nightlies(web.url, "arm64", timeout=2 * DEADLINE)
    (left,) = re.findall(r"within (\S+) s$", str(caught.value))
    assert 0 < float(left) < 2 * DEADLINE


@pytest.mark.parametrize(
    "name",
    ["vllm/vllm-openai", "docker.io/vllm/vllm-openai", "index.docker.io/vllm/vllm-openai"],
)
def test_an_image_of_docker_hub(name: str) -> None:
    assert endpoint_of(name) == "https://hub.docker.com/v2/repositories/vllm/vllm-openai"


def test_an_address_is_taken_as_it_is(web: Web) -> None:
    assert endpoint_of(web.url) == web.url
    assert endpoint_of("https://hub.example/v2/a/b") == "https://hub.example/v2/a/b"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "vllm",
        "ghcr.io/vllm/vllm-openai",
        "ghcr.io/vllm",
        "localhost/vllm",
        "localhost:5000/vllm",
        "vllm/vllm-openai:nightly",
        f"vllm/vllm-openai@{digest(1)}",
        "docker.io/vllm/../x",
        "docker.io/vllm/vllm-openai/x",
        "vllm/vllm openai",
        "vllm/vllm-openai\n",
        "vllm/vllm-openai?x",
    ],
)
def test_an_image_of_another_registry(name: str) -> None:
    with pytest.raises(LanewrightError, match=r"docker\.io/OWNER/NAME") as caught:
        endpoint_of(name)
    assert "--to git:SHA" in (caught.value.hint or "")
