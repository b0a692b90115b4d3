"""Own patches made by git itself from two trees."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

HEADER = """\
Description: a sample hook
Base: {base}
Claims: sample.counter
Proof: the flag reaches the worker
Forwarded: not-needed
"""

Tree = Mapping[str, bytes]


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run the real git in a folder of the test's own."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments],
        cwd=folder,
        env=clean | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"},
        input=stdin,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout


def write_tree(folder: Path, tree: Tree) -> None:
    """Make a folder hold exactly these files."""
    for old in sorted(folder.rglob("*"), reverse=True):
        if ".git" not in old.relative_to(folder).parts:
            old.rmdir() if old.is_dir() else old.unlink()
    for path, content in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def diff(scratch: Path, before: Tree, after: Tree, *flags: str) -> bytes:
    """``git diff --full-index`` between two trees."""
    scratch.mkdir(parents=True, exist_ok=True)
    git(scratch, "init", "--quiet")
    write_tree(scratch, before)
    git(scratch, "add", "--all")
    git(scratch, "commit", "--quiet", "--allow-empty", "-m", "before")
    write_tree(scratch, after)
    git(scratch, "add", "--all")
    return git(scratch, "diff", "--cached", "--full-index", "--no-renames", *flags)


def own_patch(scratch: Path, before: Tree, after: Tree, *flags: str, base: str) -> bytes:
    """An own patch: header and diff."""
    return HEADER.format(base=base).encode() + b"\n" + diff(scratch, before, after, *flags)
