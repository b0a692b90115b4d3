"""Which paths may enter a tree."""

import pytest

from lanewright.store.safepath import UnsafePathError, check

UNSAFE = [
    "",
    "/",
    "/etc/passwd",
    "..",
    "../x",
    "vllm/../../x",
    "vllm/..",
    ".",
    "./x",
    "vllm//x",
    "vllm/",
    "vllm/./x",
    ".git",
    ".git/hooks/post-checkout",
    ".GIT/config",
    "vllm/.Git/x",
    ".git./config",
    ".git /config",
    ".git. . /config",
    "git~1/config",
    "GIT~1/config",
    "vllm/x.",
    "vllm/x ",
    "vllm /x",
    "vllm./x",
    "vllm\\x",
    "..\\x",
    "C:\\x",
    "vllm/a\nb",
    "vllm/a\tb",
    "vllm/a\0b",
    "vllm/\x1b[31m",
    "vllm/\x7f",
    "vllm/\udce9.py",  # a byte that is no UTF-8
]

SAFE = [
    "vllm/__init__.py",
    "vllm/a b.py",
    'vllm/a"b.py',
    "vllm/模型.py",
    "vllm/.hidden",
    "vllm/..x",
    "vllm/...x",
    ".github/x",
    ".gitattributes",
    "-x",
    "~/x",
    "a:b",
    "$HOME/x",
]


@pytest.mark.parametrize("path", UNSAFE, ids=ascii)
def test_refused_and_named_with_its_source(path: str) -> None:
    with pytest.raises(UnsafePathError, match=r"^some\.patch: the path "):
        check(path, source="some.patch")


@pytest.mark.parametrize("path", SAFE, ids=ascii)
def test_given_back_unchanged(path: str) -> None:
    assert check(path, source="some.patch") == path
