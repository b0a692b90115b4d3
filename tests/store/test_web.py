"""JSON over real sockets: what is taken, and what is refused."""

import socket
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanewright.store.web import MOST_REDIRECTS, WebError, follow, get_json
from tests.upstream.web import Answer, Web, serving

# Long for a loopback server that answers, short for a test of one that does not.
DEADLINE = 0.3
SECRET = "ghs_0123456789"  # noqa: S105 - nobody's


class Document(msgspec.Struct):
    """What the tests ask for."""

    number: int


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as server:
        yield server


def get(
    url: str, *, token: str | None = None, timeout: float = 20, most_bytes: int = 1000
) -> Document:
    return get_json(url, Document, token=token, timeout=timeout, most_bytes=most_bytes)


def test_a_document_is_read(web: Web) -> None:
    web.answers["/a?b=c"] = Answer({"number": 5, "more": None})
    assert get(f"{web.url}/a?b=c") == Document(5)
    (asked,) = web.asked
    assert asked.headers["accept"] == "application/json"
    assert asked.headers["user-agent"].startswith("lanewright/")
    assert "authorization" not in asked.headers


def test_the_token_is_shown_to_the_server(web: Web) -> None:
    web.answers["/a"] = Answer({"number": 5})
    get(f"{web.url}/a", token=SECRET)
    assert web.asked[0].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("token", [f"{SECRET}\r\nX-Evil: 1", f"{SECRET} ", "", f"{SECRET}\u20ac"])
def test_a_token_that_is_none_is_refused_unseen(web: Web, token: str) -> None:
    with pytest.raises(WebError, match="the token holds a blank") as caught:
        get(f"{web.url}/a", token=token)
    assert SECRET not in str(caught.value)
    assert web.asked == []


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>", b'{"number": 5', b"[]", b"{}", b'{"number": "5"}', b"\xff", b"[" * 900],
)
def test_an_answer_that_is_no_such_document(web: Web, content: bytes) -> None:
    web.answers["/a"] = Answer(content)
    with pytest.raises(WebError, match=f"{web.url}/a answered with something else than expected"):
        get(f"{web.url}/a")


def test_an_answer_that_ends_early(web: Web) -> None:
    web.answers["/a"] = Answer({"number": 5}, cut=8)
    with pytest.raises(WebError, match="answered with something else"):
        get(f"{web.url}/a")


def test_a_chunked_answer_that_ends_early(web: Web) -> None:
    web.answers["/a"] = Answer(b"ff\r\n{", headers={"Transfer-Encoding": "chunked"})
    with pytest.raises(WebError, match="gave no answer: 'IncompleteRead"):
        get(f"{web.url}/a")


@pytest.mark.parametrize("more", [0, 1, 100_000])
def test_an_answer_is_bounded(web: Web, more: int) -> None:
    document = b'{"number": 5}'
    web.answers["/a"] = Answer(document + b" " * more)
    if not more:
        assert get(f"{web.url}/a", most_bytes=len(document)) == Document(5)
        return
    with pytest.raises(WebError, match="answered with more than 13 bytes"):
        get(f"{web.url}/a", most_bytes=len(document))


@pytest.mark.parametrize("status", [204, 304, 400, 401, 403, 404, 418, 500, 503])
def test_a_status_other_than_success(web: Web, status: int) -> None:
    web.answers["/a"] = Answer(b"", status=status)
    with pytest.raises(WebError, match=f"/a answered ({status}|with something else)") as caught:
        get(f"{web.url}/a")
    assert not caught.value.limited


@pytest.mark.parametrize(
    ("status", "headers"),
    [(429, {}), (403, {"X-RateLimit-Remaining": "0"}), (403, {"Retry-After": "60"})],
)
def test_a_rate_limit_is_told_apart(web: Web, status: int, headers: dict[str, str]) -> None:
    web.answers["/a"] = Answer(status=status, headers=headers)
    with pytest.raises(WebError, match=f"answered {status}: no more requests for now") as caught:
        get(f"{web.url}/a")
    assert caught.value.limited


@pytest.mark.parametrize("drip", ["headers", "body"])
def test_a_server_that_never_ends_does_not_hold_us(web: Web, drip: str) -> None:
    web.answers["/a"] = Answer(drip="headers" if drip == "headers" else "body")
    with pytest.raises(WebError, match=r"/a gave no whole answer within 0\.3 s"):
        get(f"{web.url}/a", timeout=DEADLINE)


def test_a_server_that_says_nothing_does_not_hold_us() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(WebError, match="gave no whole"),
    ):
        get(f"http://127.0.0.1:{silent.getsockname()[1]}/a", timeout=DEADLINE)


@pytest.mark.parametrize(
    "raw",
    [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000, b"\x15\x03\x01\0\x02"],
)
def test_a_server_that_speaks_something_else(web: Web, raw: bytes) -> None:
    web.answers["/a"] = Answer(raw=raw)
    with pytest.raises(WebError, match="gave no answer: '"):
        get(f"{web.url}/a")


def test_no_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/a"
    with pytest.raises(WebError, match=f"{url} gave no answer: .*refused"):
        get(url)


def test_a_redirect_on_the_same_server_is_followed_with_the_token(web: Web) -> None:
    web.answers["/a"] = Answer(b"", status=301, headers={"Location": "/b"})
    web.answers["/b"] = Answer(b"", status=307, headers={"Location": f"{web.url}/c?d"})
    web.answers["/c?d"] = Answer({"number": 5})
    assert get(f"{web.url}/a", token=SECRET) == Document(5)
    assert [asked.path for asked in web.asked] == ["/a", "/b", "/c?d"]
    assert {asked.headers["authorization"] for asked in web.asked} == {f"Bearer {SECRET}"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_server_is_not_followed(web: Web, status: int) -> None:
    with serving() as other:
        other.answers["/a"] = Answer({"number": 5})
        web.answers["/a"] = Answer(b"", status=status, headers={"Location": f"{other.url}/a"})
        with pytest.raises(WebError, match=f"refers to another server, {other.url}/a") as caught:
            get(f"{web.url}/a", token=SECRET)
        assert other.asked == []
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "http://[", "/a b", "data:,{}"]
)
def test_a_redirect_to_what_is_no_web_address_is_not_followed(web: Web, target: str) -> None:
    web.answers["/a"] = Answer(b"", status=302, headers={"Location": target})
    with pytest.raises(WebError, match=r"cannot ask|refers to"):
        get(f"{web.url}/a")


def test_a_redirect_to_nowhere(web: Web) -> None:
    web.answers["/a"] = Answer(b"", status=302)
    with pytest.raises(WebError, match="/a answered 302"):
        get(f"{web.url}/a")


def test_a_circle_of_redirects_ends(web: Web) -> None:
    web.answers["/a"] = Answer(b"", status=302, headers={"Location": "/a"})
    with pytest.raises(WebError, match="more than 3 redirects"):
        get(f"{web.url}/a")
    assert len(web.asked) == 1 + MOST_REDIRECTS


def test_the_body_of_a_redirect_is_not_waited_for(web: Web) -> None:
    headers = {"Location": "/b", "Content-Length": "1000000"}
    web.answers["/a"] = Answer(b"", status=302, headers=headers)
    web.answers["/b"] = Answer({"number": 5})
    assert get(f"{web.url}/a") == Document(5)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example/a",
        "http://127.0.0.1.example/a",
        f"https://user:{SECRET}@api.example/a",
        f"https://user:{SECRET}@api.example\\@other.example/a",
        "https://api.example\\@other.example/a",
        "https://api.example/a b",
        "https://api.example/\r\nX: y",
        "https://api.example:port/a",
        "https:///a",
        "file:///etc/passwd",
        "",
    ],
)
def test_an_address_that_is_not_asked(url: str) -> None:
    with pytest.raises(WebError, match="cannot ask") as caught:
        get(url)
    assert SECRET not in str(caught.value)


def test_an_https_address_is_asked_through_the_proxy_without_showing_it_the_token(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", web.url)
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(WebError, match=r"api\.example/a gave no answer: .*404"):
        get("https://api.example/a", token=SECRET)
    (asked,) = web.asked
    assert (asked.method, asked.path) == ("CONNECT", "api.example:443")
    assert SECRET not in str(asked)


def test_this_machine_is_not_asked_through_the_proxy(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.answers["/a"] = Answer({"number": 5})
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert get(f"{web.url}/a") == Document(5)


def test_a_proxys_password_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", f"http:/user:{SECRET}@proxy")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(WebError, match=r"https://api\.example/a") as caught:
        get("https://api.example/a")
    assert SECRET not in str(caught.value)


def test_what_an_answer_may_refer_to() -> None:
    assert follow("https://api.example/a/b?c", "d") == "https://api.example/a/d"
    assert follow("https://api.example/a", "https://API.example/b") == "https://API.example/b"
    for target in (
        "http://api.example/b",
        "https://api.example:444/b",
        "https://api.example.evil.example/b",
        "//evil.example/b",
    ):
        with pytest.raises(WebError):
            follow("https://api.example/a", target)


@settings(deadline=None)
@given(st.text(max_size=20), st.sampled_from(["", "https://", "//", "/", "?", "https:", "@"]))
def test_no_text_leads_to_another_server(text: str, head: str) -> None:
    try:
        found = follow("https://api.example/a", head + text)
    except WebError:
        return
    assert found.lower().startswith("https://api.example")
    assert found.removeprefix("https://api.example")[:1] in {"", "/"}
