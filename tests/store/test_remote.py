"""Urls and names from outside are taken only where git reads them as what they are."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewright.errors import ExitCode, LanewrightError
from lanewright.store.remote import Remote, check_ref, remote_of

PLACE = "upstream.toml: remotes.main"

TAKEN = {
    "https://github.com/vllm-project/vllm.git": "https",
    "https://[::1]:8443/vllm": "https",
    "ssh://git@example.org:2222/vllm.git": "ssh",
    "ssh://example.org/~/vllm.git": "ssh",
    "git@github.com:vllm-project/vllm.git": "ssh",
    "file:///srv/git/vllm.git": "file",
    "/srv/a folder/vllm": "file",
    "git://127.0.0.1:9418/vllm": "git",
    "git://localhost/vllm": "git",
}

REFUSED = {
    "ext::sh -c touch% /tmp/x": "form that is not allowed",
    "fd::17/x": "form that is not allowed",
    "--upload-pack=touch /tmp/x": "begins with -",
    "-u": "begins with -",
    "": "form that is not allowed",
    "vllm.git": "form that is not allowed",
    "./vllm": "form that is not allowed",
    "~/vllm": "form that is not allowed",
    "host:vllm": "form that is not allowed",
    "git@-oProxyCommand=x:y": "form that is not allowed",
    "-git@example.org:y": "begins with -",
    "git@example.org:-y": "form that is not allowed",
    "git@example.org::y": "form that is not allowed",
    "HTTPS://example.org/x": "form that is not allowed",
    "http://example.org/x": "form that is not allowed",
    "ftp://example.org/x": "form that is not allowed",
    "https::https://example.org/x": "form that is not allowed",
    "git://example.org/x": "plain text",
    "git://127.0.0.1.example.org/x": "plain text",
    "https://user:secret@example.org/x": "credentials",
    "https://secret@example.org/x": "credentials",
    "ssh://user:secret@example.org/x": "credentials",
    "https://example.org/x?token=secret": "a query",
    "https://example.org/x#y": "a query or a fragment",
    "https://example.org/a b": "a blank",
    "https://example.org/x\n": "control character",
    "/srv/x\0": "control character",
    "/srv/x\udcff": "control character",
    "https:///x": "names no host",
    "https://example.org": "names no path",
    "https://example.org:port/x": "cannot be read",
    "https://[::1/x": "cannot be read",
    "ssh://-oProxyCommand=x/y": "odd user or host",
    "ssh://-x@example.org/y": "odd user or host",
    "file://host/x": "names a host",
    "file://x": "names a host",
}


@pytest.mark.parametrize("url", TAKEN)
def test_a_url_of_an_allowed_form_is_taken_as_it_is(url: str) -> None:
    remote = remote_of(url, place=PLACE)
    assert (remote.url, remote.protocol) == (url, TAKEN[url])


@pytest.mark.parametrize("url", REFUSED, ids=ascii)
def test_any_other_url_is_refused_by_place_and_reason(url: str) -> None:
    with pytest.raises(LanewrightError) as refused:
        remote_of(url, place=PLACE)
    message = str(refused.value)
    assert message.startswith(f"{PLACE}: the url ")
    assert REFUSED[url] in message
    assert refused.value.hint
    assert "@example" not in message or "secret" not in message
    assert refused.value.exit_code is ExitCode.INPUT


@pytest.mark.parametrize("url", REFUSED, ids=ascii)
def test_a_refused_url_has_no_protocol(url: str) -> None:
    with pytest.raises(LanewrightError):
        _ = Remote(url).protocol


def test_a_remote_is_named_by_its_url() -> None:
    assert Remote("/srv/vllm").key == "1df8b49c8bcb"
    assert Remote("/srv/vllm").path == Remote("file:///srv/vllm").path == "/srv/vllm"
    assert Remote("file:///a%20b").path == "/a b"
    assert Remote("https://example.org/x").path is None


@pytest.mark.parametrize(
    ("ref", "kept"),
    [
        ("refs/heads/main", "heads/main"),
        ("refs/heads/releases/v0.32", "heads/releases/v0.32"),
        ("refs/tags/v0.32.0", "tags/v0.32.0"),
        ("refs/pull/56177/head", "pull/56177"),
    ],
)
def test_each_kind_of_ref_has_its_place(ref: str, kept: str) -> None:
    remote = Remote("/srv/vllm")
    assert remote.kept_as(ref) == f"refs/upstream/{remote.key}/{kept}"


@pytest.mark.parametrize(
    "ref",
    [
        *("main", "HEAD", "refs/heads/", "refs/heads/--upload-pack=x", "refs/heads/a..b"),
        *("refs/pull/7", "refs/pull/0/head", "refs/pull/7/merge", "refs/pull/-7/head"),
        *("refs/notes/x", "refs/heads/x:refs/heads/y", "+refs/heads/x", "refs/heads/*", "-x"),
    ],
)
def test_any_other_ref_is_refused(ref: str) -> None:
    with pytest.raises(LanewrightError):
        Remote("/srv/vllm").kept_as(ref)


@pytest.mark.parametrize(
    "name", ["--upload-pack=touch /tmp/x", "-b", "a..b", "a\nb", "a b", "x.lock/y", "@{-1}", ""]
)
def test_a_name_that_git_would_read_otherwise_is_refused(name: str) -> None:
    with pytest.raises(LanewrightError, match=r"^series/x\.toml: .* is no name"):
        check_ref(name, place="series/x.toml")


def git_takes(name: str) -> bool:
    command = ["git", "check-ref-format", "--allow-onelevel", name]
    return not subprocess.run(command, check=False).returncode


@given(st.text(st.sampled_from("a-./@{~^:?*[\\ \tl\x7fé"), max_size=8) | st.just("a.lock"))
def test_what_is_taken_is_what_git_takes_without_what_looks_like_an_option(name: str) -> None:
    try:
        taken = check_ref(name, place="here") == name
    except LanewrightError:
        taken = False
    assert taken == (git_takes(name) and not name.startswith("-"))
