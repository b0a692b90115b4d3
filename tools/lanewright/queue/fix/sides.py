"""The three sides of a file in a merge."""

from dataclasses import dataclass

from lanewright.queue.fix.recipe import Side
from lanewright.store.git import Repository
from lanewright.store.objects import NO_BLOB, BlobId, File, read_blobs

PLAIN = "100644"


@dataclass(frozen=True)
class Sides:
    """One file's three sides in a merge; None where a side lacks it."""

    base: File | None
    ours: File | None
    theirs: File | None

    @property
    def ids(self) -> tuple[BlobId, BlobId, BlobId]:
        """Blob ids of base, ours and theirs."""
        base, ours, theirs = (
            side.blob if side else NO_BLOB for side in (self.base, self.ours, self.theirs)
        )
        return base, ours, theirs

    @property
    def mode(self) -> str:
        """Git's mode of the settled file: the one that a side changed it to, theirs before ours."""
        if self.theirs is None:
            return self.ours.mode if self.ours else PLAIN
        if self.ours and self.base and self.base.mode == self.theirs.mode:
            return self.ours.mode
        return self.theirs.mode


def contents_of(repository: Repository, sides: Sides) -> dict[Side, bytes | None]:
    """The three contents, None for a side without the file."""
    named: dict[Side, File | None] = {
        "base": sides.base,
        "ours": sides.ours,
        "theirs": sides.theirs,
    }
    blobs = read_blobs(repository, [file.blob for file in named.values() if file])
    return {name: blobs[file.blob] if file else None for name, file in named.items()}
