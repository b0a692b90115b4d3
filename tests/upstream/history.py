"""A stand-in for upstream's git repository: branches, tags and pull requests."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lanewright.store.objects import BlobId, CommitId
from tests.upstream.diff import git, write_tree


@dataclass(frozen=True)
class Upstream:
    """A repository with a work tree, as a maintainer has it."""

    path: Path

    def git(self, *arguments: str) -> str:
        return git(self.path, *arguments).decode().strip()

    def commit(self, tree: Mapping[str, bytes], *flags: str) -> CommitId:
        """Commit exactly these files where HEAD is."""
        write_tree(self.path, tree)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "a change", *flags)
        return self.id("HEAD")

    def id(self, name: str) -> CommitId:
        return CommitId(self.git("rev-parse", "--verify", name))

    def blob(self, name: str) -> BlobId:
        return BlobId(self.id(name))

    def point(self, ref: str, commit: str) -> None:
        self.git("update-ref", ref, commit)

    def clone(self, name: str, *flags: str) -> "Upstream":
        """Clone it beside itself, over the same protocol as a distant one."""
        self.git("config", "uploadpack.allowFilter", "true")
        git(self.path.parent, "clone", "--quiet", *flags, f"file://{self.path}", name)
        return Upstream(self.path.parent / name)


def upstream(folder: Path) -> Upstream:
    """Three commits on main, an annotated and a plain tag on the second, a pull request on it."""
    folder.mkdir(parents=True)
    made = Upstream(folder)
    made.git("init", "--quiet", "--initial-branch=main")
    made.commit({"a.py": b"a = 1\n", "b.py": b"b = 1\n"})
    second = made.commit({"a.py": b"a = 2\n", "b.py": b"b = 1\n"})
    made.git("tag", "--annotate", "-m", "two", "v2")
    made.git("tag", "plain")
    made.git("checkout", "--quiet", "-b", "work")
    made.point("refs/pull/7/head", made.commit({"a.py": b"a = 2\n", "b.py": b"b = 7\n"}))
    made.git("checkout", "--quiet", "main")
    made.commit({"a.py": b"a = 3\n", "b.py": b"b = 1\n"})
    assert made.id("plain") == second
    return made
