"""What is of one person or machine is replaced, however it is written."""

import json
from pathlib import Path

import pytest

from lanewright.bundle.looking import looked_through
from lanewright.bundle.parts import Part
from lanewright.bundle.private import Private, private
from lanewright.places import Places

SECRET = "s3cr3t-of-mine"  # noqa: S105 - nobody's
SECRETS = {
    "MY_SECRET": "value-one-of-nobody",
    "PGPASSWORD": "value-two-of-nobody",
    "OPENAI_APIKEY": "value-three-of-nobody",
    "AWS_SECRET_ACCESS_KEY": "/value+four/of/nobody",
}


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> Private:
    monkeypatch.setenv("HOME", "/home/jos\u00e9")
    monkeypatch.setenv("USER", "alice")
    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setenv("SSH_KEY", "/srv/key-of-a-host")
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("platform.node", lambda: "gb-7.example")
    places = Places(Path("/home/jos\u00e9/cache"), Path("/srv/state"))
    return private(places, None, [("/srv/project", "PROJECT"), ("/", "STATE"), ("/srv", "STATE")])


def told(hidden: Private, text: str) -> str:
    return hidden.replaced(text.encode())[0].decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/jos\u00e9/x", "~/x"),
        ("-I/home/jos\u00e9", "-I~"),
        (json.dumps("a\n/home/jos\u00e9/x\n"), '"a\\n~/x\\n"'),
        ("file:///home/jos%C3%A9/x", "file://~/x"),
        ("/home/jos\u00e9/cache/models", "STORE/models"),
        ("/home/jos\u00e9/cache2/models", "~/cache2/models"),
        ("/srv/state/runs:/srv/project", "STATE/runs:PROJECT"),
        ("/srv/other /srv/projects", "/srv/other /srv/projects"),
        ("/home/bob/x /Users/eve/y /root/z /rooted", "~/x ~/y ~/z /rooted"),
        ("by alice at gb-7, gb-7.example", "by USER at HOST, HOST"),
        (json.dumps("a\nalice\n"), '"a\\nUSER\\n"'),
        (".making-gb_7_example-12-x", ".making-HOST-12-x"),
        ("malice alice_s", "malice USER_s"),
        (f"token {SECRET}.", "token TAKEN-OUT."),
        *((f"it is {value}.", "it is TAKEN-OUT.") for value in SECRETS.values()),
        ("/tmp/torchinductor_alice/ab/c.py", "/tmp/torchinductor_USER/ab/c.py"),  # noqa: S108
        ("alice_ed25519 malice alices", "USER_ed25519 malice alices"),
        ("https://me:p%40ss@host/x", "https://TAKEN-OUT@host/x"),
        ("https://host/x@2 http://a/b?c=@d", "https://host/x@2 http://a/b?c=@d"),
        ("https://h/x?a=1&access_token=abc&b=2", "https://h/x?a=1&access_token=TAKEN-OUT&b=2"),
        ("Authorization: Bearer abcdefgh", "Authorization: Bearer TAKEN-OUT"),
        ('{"api_key": "abcdefgh"}', '{"api_key": "TAKEN-OUT"}'),
        ("'--api-key', 'abcdefgh'", "'--api-key', 'TAKEN-OUT'"),
        ("--api-key abcdefgh --port 1", "--api-key TAKEN-OUT --port 1"),
        (f"x\nghp_{'a' * 36}", "x\nTAKEN-OUT"),
        (json.dumps(f"x\nhf_{'a' * 34}"), '"x\\nTAKEN-OUT"'),
        ("task-aaaaaaaaaaaaaaaaaaaaaaaa", "task-aaaaaaaaaaaaaaaaaaaaaaaa"),
        ("max_tokens=64 root python vllm", "max_tokens=64 root python vllm"),
    ],
)
def test_each(hidden: Private, text: str, expected: str) -> None:
    assert told(hidden, text) == expected


def test_a_private_key_goes_whole(hidden: Private) -> None:
    kind = "RSA PRIVATE KEY"
    text = f"-----BEGIN {kind}-----\nMIIE\nxyz\n-----END {kind}-----\nrest\n"
    assert told(hidden, text) == f"-----BEGIN {kind}-----TAKEN-OUT-----END {kind}-----\nrest\n"


def test_json_stays_json(hidden: Private) -> None:
    data = {"a": ["/home/jos\u00e9", "alice", 'say "\\alice"'], "password": "hunter2hunter2"}
    for text in (json.dumps(data), json.dumps(data, ensure_ascii=False), json.dumps([str(data)])):
        clean = told(hidden, text)
        json.loads(clean)
        for word in ("jos", "alice", "hunter2"):
            assert word not in clean


def test_what_is_no_text_stays(hidden: Private) -> None:
    assert hidden.replaced(b"\xff\x00/home/bob/\xfe")[0] == b"\xff\x00~/\xfe"


def test_how_often_is_told(hidden: Private) -> None:
    assert hidden.replaced(b"alice /home/bob alice")[1] == {"USER": 2, "~": 1}


def looked(text: str) -> list[tuple[int, str, str, int]]:
    return [
        (each.line, each.what, each.text, each.times)
        for each in looked_through([Part("a.log", text.encode())])
    ]


def test_what_is_left_is_told_once_with_its_line() -> None:
    text = "one\n/data/models/a\nmail me@example.org\n/data/models/a\n10.1.2.3 fe80::1\n"
    assert looked(text) == [
        (2, "an absolute path", "/data/models/a", 2),
        (3, "an e-mail address", "me@example.org", 1),
        (5, "an IP address", "10.1.2.3", 1),
        (5, "an IP address", "fe80::1", 1),
    ]


@pytest.mark.parametrize(
    "word", ["A" * 20 + "b" * 20 + "7", "token: abcdefghijklm", '"credential": "abcdefghijklm"']
)
def test_what_looks_like_a_token(word: str) -> None:
    assert looked(f"\n{word}\n") == [(2, "a token", word.strip('"'), 1)]


def test_json_hides_nothing_behind_its_escapes() -> None:
    text = json.dumps("a\n/data/models/a\tme@example.org")
    assert [what for _, what, _, _ in looked(text)] == ["an absolute path", "an e-mail address"]


@pytest.mark.parametrize(
    "text",
    [
        "/usr/lib/x /proc/1/maps /etc/hosts",
        "127.0.0.1 0.0.0.0 ::1 :: 255.255.255.0",
        "vllm/a.py http://host/a/b and/or ~/x/y STATE/runs/x",
        "vLLM 1.2.3.4.5 torch 2.13.0+cpu 12:34:56",
        "Route: /docs/redirect, Methods: GET; POST /v1/chat/completions",
        f"sha256:{'0a' * 32} {'0A' * 20}",
        "lanewright-cpu-tiny-20261101T020000Z-01234567",
        "::error::x max_tokens=64",
    ],
)
def test_what_everybody_has_is_no_matter(text: str) -> None:
    assert looked(text) == []
