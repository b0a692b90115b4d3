"""The same changes, carried by quilt and by ``git am -3``, in folders that they like best."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.queue.timing import Spent, spent
from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, TreeId

ENVIRON = {
    "PATH": os.environ.get("PATH", os.defpath),
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@localhost",
    # Else they would leave work for after the clock has stopped.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "gc.auto",
    "GIT_CONFIG_VALUE_0": "0",
}


@dataclass(frozen=True)
class Am:
    """``git am -3`` of a mailbox, on a branch that is checked out at the pin."""

    name = "git am -3"
    work: Path
    pin: CommitId
    mailbox: Path

    def push(self) -> Spent:
        """Apply all of it to the clean branch."""
        _git(self.work, "reset", "--quiet", "--hard", self.pin)
        command = ["git", "am", "-3", "--quiet", str(self.mailbox)]
        return spent(command, self.work, ENVIRON)


@dataclass(frozen=True)
class Quilt:
    """``quilt push -a`` of a series that applies without fuzz, in a tree that is laid out."""

    name = "quilt"
    work: Path

    def push(self) -> Spent:
        """Apply all of it to the clean tree."""
        quilt = ["quilt", "--quiltrc", "-"]
        if (self.work / ".pc/applied-patches").exists():
            spent([*quilt, "pop", "-a", "-q"], self.work, ENVIRON)
        return spent([*quilt, "push", "-a", "-q"], self.work, ENVIRON)


def has_quilt() -> bool:
    """Whether quilt is installed."""
    return shutil.which("quilt") is not None


def am(
    folder: Path, upstream: Path, pin: CommitId, base: CommitId, heads: Sequence[CommitId]
) -> Am:
    """Lay a branch and a mailbox out.

    Args:
        folder: For both; not there yet.
        upstream: Repository with the commits.
        pin: Where the branch stands.
        base: What each head is one commit on.
        heads: The commits, in order.
    """
    _checkout(folder / "work", upstream, pin)
    flags = ("--stdout", "--full-index", "--no-signature")
    mails = [_git(upstream, "format-patch", *flags, f"{base}..{head}") for head in heads]
    (folder / "mailbox").write_bytes(b"".join(mails))
    return Am(folder / "work", pin, folder / "mailbox")


def quilt(
    folder: Path, upstream: Path, pin: CommitId, store: Repository, trees: Sequence[TreeId]
) -> Quilt:
    """Lay a tree and a series out.

    Args:
        folder: For both; not there yet.
        upstream: Repository with the pin.
        pin: Whose tree it is.
        store: Repository with the trees.
        trees: The pin's, then the one after each change.
    """
    _checkout(folder, upstream, pin)
    shutil.rmtree(folder / ".git")
    (folder / "patches").mkdir()
    names = []
    for number, (before, after) in enumerate(pairwise(trees), 1):
        name = f"{number:03}.patch"
        diff = store.run("diff-tree", "-r", "-p", "--full-index", before, after).stdout
        (folder / "patches" / name).write_bytes(diff)
        names.append(f"{name}\n")
    (folder / "patches/series").write_text("".join(names))
    return Quilt(folder)


def _checkout(folder: Path, upstream: Path, commit: CommitId) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    _git(folder.parent, "clone", "--quiet", "--no-checkout", str(upstream), str(folder))
    _git(folder, "fetch", "--quiet", "origin", "refs/pull/*:refs/pull/*")
    _git(folder, "checkout", "--quiet", "-B", "carried", commit)


def _git(folder: Path, *arguments: str) -> bytes:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=folder, env=ENVIRON, check=True, stdout=subprocess.PIPE
    ).stdout
