"""Facts of a pull request: asked for over real sockets, and kept."""

import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanewright.places import Places
from lanewright.store import github
from lanewright.store.github import PullFacts, endpoint_of, keep, known, pull_facts
from lanewright.store.safepath import UnsafePathError
from tests.upstream.web import Answer, Web, serving

Capture = pytest.CaptureFixture[str]

DEADLINE = 0.3
SECRET = "ghs_0123456789"  # noqa: S105 - nobody's
PATH = "/repos/vllm-project/vllm/pulls/56177"
HEAD, BASE, MERGE = "1" * 40, "2" * 40, "3" * 40

OPEN: dict[str, Any] = {
    "number": 56177,
    "title": "Shared expert pool",
    "state": "open",
    "draft": False,
    "user": {"login": "01554", "id": 1},
    "head": {"ref": "pool", "sha": HEAD, "repo": None},
    "base": {"ref": "main", "sha": BASE, "repo": {}},
    "merged": False,
    "merge_commit_sha": MERGE,
    "updated_at": "2026-09-28T08:09:10Z",
    "html_url": "https://github.com/vllm-project/vllm/pull/56177",
}
FACTS = PullFacts(
    number=56177,
    title="Shared expert pool",
    state="open",
    draft=False,
    author="01554",
    head_sha=HEAD,
    base_ref="main",
    base_sha=BASE,
    merged_as=None,
    updated_at="2026-09-28T08:09:10Z",
    url="https://github.com/vllm-project/vllm/pull/56177",
)


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as server:
        yield server


def ask(web: Web, answer: object, *, token: str | None = None) -> PullFacts | None:
    web.answers[PATH] = answer if isinstance(answer, Answer) else Answer(answer)
    return pull_facts(f"{web.url}/repos/vllm-project/vllm", 56177, token)


def test_an_open_pull_request(web: Web, capfd: Capture) -> None:
    assert ask(web, OPEN) == FACTS
    assert [asked.path for asked in web.asked] == [PATH]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("answer", "state", "merged_as"),
    [
        ({"state": "closed", "merged": True}, "merged", MERGE),
        ({"state": "closed"}, "closed", None),
        ({"draft": True, "merge_commit_sha": None}, "open", None),
    ],
)
def test_what_became_of_it(
    web: Web, answer: dict[str, object], state: str, merged_as: str | None
) -> None:
    facts = ask(web, {**OPEN, **answer})
    assert facts is not None
    assert (facts.state, facts.merged_as) == (state, merged_as)
    assert facts.draft is ("draft" in answer)


def test_an_author_who_is_gone(web: Web) -> None:
    facts = ask(web, {**OPEN, "user": None})
    assert facts is not None
    assert facts.author == "ghost"


def test_a_title_cannot_steer_a_terminal(web: Web) -> None:
    facts = ask(web, {**OPEN, "title": "a\x1b[2J\nb\u202e \u6a21\u578b"})
    assert facts is not None
    assert facts.title == "a[2Jb \u6a21\u578b"


def test_a_repository_that_moved_is_found_with_the_token(web: Web) -> None:
    web.answers["/repositories/5/pulls/56177"] = Answer(OPEN)
    moved = Answer(b"", status=301, headers={"Location": f"{web.url}/repositories/5/pulls/56177"})
    assert ask(web, moved, token=SECRET) == FACTS
    assert [asked.headers["authorization"] for asked in web.asked] == 2 * [f"Bearer {SECRET}"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(status=404), "answered 404"),
        (Answer(status=401), "answered 401"),
        (Answer(status=403), "answered 403\n"),
        (Answer(status=403, headers={"X-RateLimit-Remaining": "0"}), "GITHUB_TOKEN raises it"),
        (Answer(status=429), "its rate limit is reached"),
        (Answer(status=502), "answered 502"),
        (Answer(b"<html>"), "answered with something else"),
        (Answer(b'{"number": 56177, '), "answered with something else"),
        (Answer({**OPEN, "head": {"ref": "pool", "sha": "short"}}), "$.head.sha"),
        (
            Answer({**OPEN, "base": {"ref": "main", "sha": BASE.replace("2", "\n", 1)}}),
            "$.base.sha",
        ),
        (Answer({**OPEN, "state": "\x1b[2J"}), r"Invalid enum value '\\x1b[2J'"),
        (Answer({**OPEN, "html_url": "javascript:alert(1)"}), "$.html_url"),
        (Answer({**OPEN, "updated_at": "yesterday"}), "$.updated_at"),
        (Answer({**OPEN, "number": 5}), "answered for 5"),
        (Answer({**OPEN, "body": "x" * github.MOST_BYTES}), "more than 1048576 bytes"),
        (Answer(b"", status=302, headers={"Location": "http://127.0.0.1:9/"}), "another server"),
    ],
)
def test_none_and_one_line_that_says_why(
    web: Web, capfd: Capture, answer: Answer, why: str
) -> None:
    assert ask(web, answer) is None
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("no facts of pull request 56177: ")
    assert err.count("\n") == 1
    assert why in err
    assert err.removesuffix("\n").isprintable()


def test_no_network(capfd: Capture) -> None:
    with serving() as gone:
        endpoint = gone.url
    assert pull_facts(endpoint, 5, None) is None
    assert "/pulls/5 gave no answer" in capfd.readouterr().err


@pytest.mark.parametrize("answer", [Answer(drip="headers"), Answer(drip="body")])
def test_a_slow_server(web: Web, capfd: Capture, answer: Answer) -> None:
    web.answers["/pulls/5"] = answer
    assert pull_facts(web.url, 5, None, timeout=DEADLINE) is None
    assert "gave no whole answer within 0.3 s" in capfd.readouterr().err


@pytest.mark.parametrize("status", [401, 403, 429])
@pytest.mark.parametrize("token", [SECRET, f"{SECRET}\n{SECRET}"])
def test_the_token_is_never_told(web: Web, capfd: Capture, status: int, token: str) -> None:
    echo = {"WWW-Authenticate": SECRET, "Retry-After": SECRET}
    assert ask(web, Answer(SECRET.encode(), status=status, headers=echo), token=token) is None
    err = capfd.readouterr().err
    assert SECRET not in err
    assert "GITHUB_TOKEN raises it" not in err


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"GITHUB_TOKEN": "a"}, "a"),
        ({"GH_TOKEN": "b\n"}, "b"),
        ({"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}, "b"),
        ({"GITHUB_TOKEN": "a", "GH_TOKEN": ""}, "a"),
        ({"GITHUB_TOKEN": " "}, None),
    ],
)
def test_the_users_token(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str | None
) -> None:
    for name in ("GH_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert github.token() == expected


WORD = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=12)
SPELLINGS = [
    "https://github.com/{}",
    "https://github.com:443/{}",
    "https://user:token@github.com/{}",
    "https://www.github.com/{}",
    "https://GitHub.com/{}",
    "ssh://git@github.com/{}",
    "ssh://github.com:22/{}",
    "ssh://git@ssh.github.com:443/{}",
    "git@github.com:{}",
    "git@github.com:/{}",
    "github.com:{}",
]


@settings(deadline=None)
@given(
    WORD.filter(lambda word: word[0] != "-"),
    WORD,
    st.sampled_from(SPELLINGS),
    st.sampled_from(["", ".git", "/", ".git/"]),
)
def test_every_spelling_of_a_remote_gives_one_endpoint(
    owner: str, name: str, spelling: str, end: str
) -> None:
    url = spelling.format(f"{owner}/{name}{end}")
    assert endpoint_of(url) == f"https://api.github.com/repos/{owner}/{name}"


@pytest.mark.parametrize(
    "url",
    [
        "https://gitlab.com/vllm-project/vllm.git",
        "https://github.com.evil.example/vllm-project/vllm",
        "https://evil.example/github.com/vllm-project/vllm",
        "https://evil.example/@github.com/vllm-project/vllm",
        "https://evilgithub.com/vllm-project/vllm",
        "git@gitlab.com:vllm-project/vllm.git",
        "git@evil.example:github.com:vllm-project/vllm.git",
        "http://github.com/vllm-project/vllm",
        "file:///github.com/vllm-project/vllm",
        "/srv/github.com/vllm-project/vllm",
        "https://github.com/vllm-project",
        "https://github.com/vllm-project/vllm/tree",
        "https://github.com/vllm-project/..",
        "https://github.com/../vllm",
        "https://github.com/vllm-project/vllm?x",
        "https://github.com/vllm-project/vllm\n",
        "ext::sh -c github.com:a/b",
        "",
    ],
)
def test_what_is_no_remote_on_github(url: str) -> None:
    assert endpoint_of(url) is None


@pytest.mark.parametrize("merged_as", [None, MERGE])
def test_kept_facts_are_known(places: Places, merged_as: str | None) -> None:
    facts = msgspec.structs.replace(FACTS, merged_as=merged_as, title='"\u6a21\u578b"')
    keep(places, "vllm", FACTS)
    keep(places, "vllm", facts)
    assert known(places, "vllm", 56177) == facts
    assert known(places, "vllm", 5) is None
    assert known(places, "other", 56177) is None
    (folder,) = (places.store / "pulls").iterdir()
    assert [file.name for file in folder.iterdir()] == ["56177.json"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'{"number": 56177}',
        msgspec.json.encode(FACTS)[:-5],
        msgspec.json.encode(FACTS).replace(HEAD.encode(), b"short"),
        msgspec.json.encode(FACTS).replace(b"56177,", b"5,"),
        b'{"x":' + b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_not_known(places: Places, content: bytes) -> None:
    keep(places, "vllm", FACTS)
    (places.store / "pulls" / "vllm" / "56177.json").write_bytes(content)
    assert known(places, "vllm", 56177) is None
    keep(places, "vllm", FACTS)
    assert known(places, "vllm", 56177) == FACTS


def test_a_store_that_cannot_be_written_is_said(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "store").write_text("a file")
    places = Places(tmp_path / "store", tmp_path)
    keep(places, "vllm", FACTS)
    assert "cannot keep the facts of pull request 56177" in capfd.readouterr().err
    assert known(places, "vllm", 56177) is None


@pytest.mark.parametrize("key", ["..", "../x", "/etc", "a/../..", ""])
def test_a_key_that_would_lead_elsewhere(places: Places, key: str) -> None:
    with pytest.raises(UnsafePathError):
        keep(places, key, FACTS)
    with pytest.raises(UnsafePathError):
        known(places, key, 56177)
