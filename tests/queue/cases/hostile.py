"""Pull requests that a rule keeps out, on a lane that stands on a few files."""

import re
import shlex
from dataclasses import dataclass

import pytest

from lanewright.store.objects import CommitId
from lanewright.store.write import Content
from tests.queue.cases.lane import Changes, Lane

Capture = pytest.CaptureFixture[str]
LINES = b"".join(b"line_%d = 0\n" % number for number in range(20))
FILE, CAFE = "vllm/x.py", "vllm/caf\xe9.py"
GOOD = "vllm/good.py"
BASE: dict[str, bytes | Content] = {FILE: LINES, "vllm/a/b.py": b"b = 1\n", CAFE: b"c = 1\n"}
RLO = "\u202e".encode()


@dataclass(frozen=True)
class Hostile:
    """A pull request.

    Attributes:
        rule: The rule that it breaks.
        path: In which file.
        content: What it makes of that; None removes it.
        why: What is said of it.
    """

    rule: str
    path: str
    content: bytes | Content | None
    why: str

    @property
    def allowance(self) -> str:
        """What lets it in."""
        return f"{self.rule}:{self.path}"


def push(lane: Lane, changes: Changes, number: int = 1) -> CommitId:
    """A pull request with one harmless file more."""
    wanted = {GOOD: b"good = 1\n", **changes}
    made = {path: each for path, each in wanted.items() if each is not None or path != GOOD}
    return lane.pull(made, lane.upstream_main(), number=number)


def with_submodule(lane: Lane, number: int = 1) -> None:
    """Give a pull request a submodule at ``vllm/sub`` more."""
    ref = f"refs/pull/{number}/head"
    git = lane.upstream.run
    listed = git("ls-tree", f"{ref}:vllm").stdout + f"160000 commit {'1' * 40}\tsub\n".encode()
    inner = git("mktree", "--missing", stdin=listed).stdout.decode().strip()
    outer = git("mktree", stdin=f"040000 tree {inner}\tvllm\n".encode()).stdout.decode().strip()
    made = git("commit-tree", outer, "-p", ref, stdin=b"m").stdout.decode().strip()
    git("update-ref", ref, made)


def link(target: str) -> Content:
    """A symlink."""
    return Content("120000", target.encode())


HOSTILE = [
    Hostile("link", "vllm/l.py", link("x.py"), "a symlink to 'x.py'"),
    Hostile("link", FILE, link("a/b.py"), "a symlink to 'a/b.py'"),
    Hostile("twin", "vllm/X.py", b"x = 1\n", "it differs only in case or Unicode form from vllm/x"),
    Hostile("twin", "vllm/A/c.py", b"c = 1\n", "its folder vllm/A differs only in case or"),
    Hostile("twin", "vllm/cafe\u0301.py", b"c = 2\n", r"form from 'vllm/caf\xe9.py'"),
    Hostile("twin", "vllm/\uff58.py", b"x = 2\n", "form from vllm/x.py"),
    Hostile("attributes", "vllm/.gitattributes", b"*.py -text\n", "a file of git's"),
    Hostile("attributes", "vllm/a/.GitModules", b"[submodule]\n", "a file of git's"),
    Hostile("attributes", "vllm/.gitignore", b"*.so\n", "a file of git's"),
    Hostile("ci", "vllm/.github/workflows/x.yml", b"on: push\n", "it steers what a CI"),
    Hostile("ci", "vllm/.buildkite/x.yaml", b"steps:\n", "it steers what a CI"),
    Hostile("ci", "vllm/.pre-commit-config.yaml", b"repos:\n", "it steers what a CI"),
    Hostile("ci", "vllm/.forgejo/workflows/x.yml", b"on: push\n", "it steers what a CI"),
    Hostile("packaging", "vllm/Dockerfile.cpu", b"FROM evil\n", "it is read when a package"),
    Hostile("packaging", "vllm/pylock.toml", b"evil = 1\n", "it is read when a package"),
    Hostile("packaging", "vllm/pyproject.toml", b"[project]\n", "it is read when a package"),
    Hostile("packaging", "vllm/a/conftest.py", b"a = 1\n", "it is read when a package"),
    Hostile("packaging", "vllm/evil.pth", b"import os\n", "it is read when a package"),
    Hostile("packaging", "vllm/sitecustomize.py", b"a = 1\n", "it is read when a package"),
    Hostile("packaging", "vllm/requirements-x.txt", b"evil\n", "it is read when a package"),
    Hostile("packaging", "vllm/__pycache__/x.cpython-311.pyc", b"\0", "it is read when a package"),
    Hostile("packaging", "vllm/x.cpython-311-x86_64-linux-gnu.so", b"\x7fELF\0", "compiled code"),
    Hostile("packaging", "vllm/libx.SO.1.2", b"\x7fELF\0", "it is compiled code"),
    Hostile("bidi", FILE, LINES + b"# a " + RLO + b"b\n", "it adds U+202E right-to-left override"),
    Hostile("bidi", "vllm/n.py", b"a = '\xe2\x80\x8b'\n", "it adds U+200B zero width space"),
    Hostile("bidi", "vllm/n.txt", b"\xe9 " + RLO + b"\n", "it adds U+202E"),
    Hostile("bidi", "vllm/n.py", b"a = 1\n# \xef\xbb\xbfb\n", "it adds U+FEFF zero width no-break"),
    Hostile("bidi", "vllm/n.py", "a = '\U000e0101'\n".encode(), "adds U+E0101 variation selector"),
    Hostile("bidi", "vllm/n.py", "a = '\ufe01\ufe02'\n".encode(), "adds U+FE02 variation selector"),
    Hostile("bidi", "vllm/n.py", "# a\u2028b = 1\n".encode(), "it adds U+2028 line separator"),
    Hostile("bidi", "vllm/n.py", b"a = 1  # \x1b[1A\x1b[2K\n", "it adds U+001B"),
    Hostile("bidi", "vllm/n.py", b"# coding: utf-7\n# +AAo-import os\n", "read the file as utf-7"),
    Hostile(
        "bidi",
        "vllm/n.py",
        b"#!/usr/bin/python\n# vim: fileencoding=Unicode-Escape :\n# \\u000aimport os\n",
        "read the file as unicode-escape",
    ),
    Hostile("bidi", "vllm/n.py", b"# a\rimport os\n", "it adds a carriage return within a line"),
    Hostile("bidi", FILE, LINES + b"# \x1b[2J\n", "it adds U+001B control"),
    Hostile("bidi", "vllm/n.txt", b"\xc2\x9b2J\n", "it adds U+009B control"),
    Hostile("bidi", "vllm/n\u202ey.txt", b"a = 1\n", "its path has U+202E right-to-left override"),
]


def refused(lane: Lane, capfd: Capture, *arguments: str) -> str:
    """Run a command that is refused and writes nothing; what it says."""
    before = [(path, path.read_bytes()) for path in (lane.series, lane.series.with_suffix(".lock"))]
    capfd.readouterr()
    assert lane.run(*arguments) == 1
    assert [(path, path.read_bytes()) for path, _ in before] == before
    error = capfd.readouterr().err
    assert "lane sample: chosen hunks are refused:" in error
    assert "nothing is written" in error
    return error


def next_of(error: str, command: str = "add") -> list[str]:
    """The command that an error says to type."""
    found = re.search(rf"lanewright ({command} .*?)(?:, or allow .*)?$", error, re.MULTILINE)
    assert found, error
    return shlex.split(found[1])
