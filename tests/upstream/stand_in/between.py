"""The two trees that a pull request's edits are chosen from: its base and the new tag."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from lanewright.store.git import Repository
from lanewright.store.objects import (
    BlobId,
    CommitId,
    File,
    TreeId,
    commit_and_tree,
    files,
    read_blobs,
)
from tests.upstream.stand_in.regions import Region, regions


@dataclass(frozen=True)
class Between:
    """Two trees and what upstream did between them.

    Attributes:
        repository: Where they are.
        trees: Their ids.
        base: Files of the older.
        pin: Files of the newer.
        regions: Changed lines by path.
        renamed: Files that git would follow to another name.
    """

    repository: Repository
    trees: tuple[TreeId, TreeId]
    base: Mapping[str, File]
    pin: Mapping[str, File]
    regions: Mapping[str, list[Region]]
    renamed: frozenset[str]
    _contents: dict[BlobId, bytes] = field(default_factory=dict)

    def stand(self, path: str) -> str:
        """What upstream did to a file of the base: ``same``, ``changed`` or ``gone``."""
        if path not in self.pin:
            return "gone"
        return "same" if self.base[path] == self.pin[path] else "changed"

    def read_ahead(self, paths: Iterable[str]) -> None:
        """Read both sides of these files, in one git call."""
        wanted = {
            tree[path].blob for path in paths for tree in (self.base, self.pin) if path in tree
        }
        unread = sorted(wanted - self._contents.keys())
        if unread:
            self._contents.update(read_blobs(self.repository, unread))

    def source(self, path: str) -> bytes:
        """A file as the base has it."""
        return self._contents[self.base[path].blob]

    def target(self, path: str) -> bytes:
        """A file as the new tag has it; empty where it has none."""
        return self._contents[self.pin[path].blob] if path in self.pin else b""

    def unused(self, names: Iterable[str]) -> set[str]:
        """Those names that each tree has once at most: where they are made."""
        wanted = sorted(set(names))
        if not wanted:
            return set()
        patterns = [part for name in wanted for part in ("-e", name)]
        output = self.repository.run("grep", "-howF", *patterns, *self.trees)
        counts = Counter(output.stdout.decode().split())
        return {name for name in wanted if counts[name] <= len(self.trees)}


@lru_cache(maxsize=8)
def between(repository: Repository, base: CommitId, pin: CommitId) -> Between:
    """Compare two commits, once."""
    found = [commit_and_tree(repository, name) for name in (base, pin)]
    one, two = [each[1] for each in found if each]
    return Between(
        repository,
        (one, two),
        files(repository, one),
        files(repository, two),
        regions(repository, one, two),
        _renamed(repository, one, two),
    )


def _renamed(repository: Repository, before: TreeId, after: TreeId) -> frozenset[str]:
    flags = ("-r", "-z", "-M", "--diff-filter=R", "--name-status")
    output = repository.run("diff-tree", *flags, before, after)
    return frozenset(output.stdout.decode("utf-8", "surrogateescape").split("\0")[1::3])
