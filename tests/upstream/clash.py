"""Conflicts of known sides: upstream's branch and a pull request that change the same files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, TreeId, commit_and_tree
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, commit, set_ref, store_files
from tests.upstream.fixtures import Carrying
from tests.upstream.used import name_in_a_test

Files = Mapping[str, bytes | Content | None]
PIN = re.compile(r"^pin = .*\n(release = .*\n)?", re.MULTILINE)
MAIN = "refs/heads/main"


@dataclass(frozen=True)
class Clash:
    """A world in which one or more pull requests meet upstream's own changes.

    Attributes:
        world: The lane and its store.
        before: Upstream's commit that pull requests are made on.
    """

    world: Carrying
    before: CommitId

    def upstream(self, changes: Files, *, onto: CommitId | None = None) -> CommitId:
        """Make upstream's branch one commit on ``onto``, by default on what requests are made on."""
        made = _commit(self.world, onto or self.before, changes)
        set_ref(Repository(self.world.upstream), MAIN, made)
        return made

    def pull(self, number: int, changes: Files, *, onto: CommitId | None = None) -> CommitId:
        """Make a pull request of one commit."""
        made = _commit(self.world, onto or self.before, changes)
        set_ref(Repository(self.world.upstream), f"refs/pull/{number}/head", made)
        name_in_a_test(self.world.root, (p for p in changes if changes[p] is not None), number)
        return made

    def stand_on(self, pin: CommitId, lane: str = "sample") -> None:
        """Move a lane by hand, as a person edits its series."""
        file = self.world.root / f"series/{lane}.toml"
        text = f'pin = "git:{pin}"\nrelease = "0.31.0"\n'
        file.write_text(PIN.sub(text, file.read_text(), count=1))

    def folder(self, entry: str = "5", lane: str = "sample") -> Path:
        """Where an entry's conflicts are laid out."""
        return self.world.root / ".lanewright/resolve" / lane / entry

    def fixes(self, entry: str = "5") -> list[Path]:
        """The recipes of an entry."""
        return sorted((self.world.root / "overlay/fixes" / entry).rglob("*.fix"))

    def settle(self, contents: Mapping[str, bytes | None], entry: str = "5", *more: str) -> None:
        """Resolve an entry's conflicts to these contents."""
        assert self.world.run("resolve", entry, *more) == 0
        for path, content in contents.items():
            if content is None:
                (self.folder(entry) / path).unlink()
            else:
                (self.folder(entry) / path).write_bytes(content)
        assert self.world.run("resolve", entry, "--done", *more) == 0

    def built(self) -> dict[str, bytes]:
        """Build the lane; its files."""
        assert self.world.run("build") == 0
        return self.world.read(self.world.lock.tree)

    def outcomes(self, entry: str = "5") -> set[str]:
        """What the lock says of an entry's hunks."""
        [found] = [each for each in self.world.lock.entries if each.name == entry]
        return {hunk.outcome for hunk in found.hunks}


def clash(
    world: Carrying, base: Files, ours: Files, theirs: Files, *, code: int = 3, number: int = 5
) -> Clash:
    """A pull request as ``theirs`` on ``base``, carried by a lane that stands on ``ours``."""
    made = Clash(world, _commit(world, world.main[-1], base))
    pin = made.upstream(ours)
    made.pull(number, theirs)
    made.stand_on(pin)
    assert world.run("add", str(number)) == code
    return made


def _commit(world: Carrying, parent: CommitId, changes: Files) -> CommitId:
    repository = Repository(world.upstream)
    contents = {
        path: Content("100644", content) if isinstance(content, bytes) else content
        for path, content in changes.items()
    }
    _, before = commit_and_tree(repository, parent) or (parent, TreeId(parent))
    tree = edit_tree(repository, before, store_files(repository, contents))
    return commit(repository, tree, "a change\n", [parent])
