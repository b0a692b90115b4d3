"""How a base, and an image on it, are had again once they are refused or lost: what to type."""

from dataclasses import dataclass
from pathlib import Path

from lanewright.image.opened.image import OpenImage
from lanewright.image.opened.kept import kept_folder
from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.terminal import quoted


@dataclass(frozen=True)
class Again:
    """What of a lane's image is to be had again.

    Attributes:
        places: The store.
        lock: Of the lane.
        digest: Of the base's manifest; empty where that is not known.
        index: Of the list that has the base, where it is known.
    """

    places: Places
    lock: Lock
    digest: str
    index: str | None = None

    @classmethod
    def of(cls, places: Places, lock: Lock, base: OpenImage) -> "Again":
        """Of a base that can be opened."""
        return cls(places, lock, base.digest, base.index)

    @property
    def is_named(self) -> bool:
        """Whether the lock names the base."""
        named = self.lock.base
        return bool(named and named.digest in (self.digest, self.index))

    def made(self) -> list[Path]:
        """Where a base that was made here was kept first: the same files once more."""
        found = self.places.base_images.glob("made-*/index.json")
        digest = self.digest.encode()
        return [each.parent for each in found if digest and digest in each.read_bytes()]

    def image(self, *removed: Path) -> str:
        """Make the image on the base as it is, once some folders are gone."""
        own = self.is_named if self.lock.base else bool(self.made())
        base = "" if own or not self.digest else f" --base {self.digest}"
        return _joined([*removed], [self._making(base)])

    def both(self, *removed: Path) -> str:
        """Have the base again, which is damaged or lost, and the image on it."""
        folders, steps = self._base()
        own = self.is_named or bool(self.made())
        return _joined([*removed, *folders], [*steps, self._making("" if own else " --base IMAGE")])

    def base(self) -> str:
        """Have the base again, which is damaged or lost."""
        folders, steps = self._base()
        return _joined(folders, steps or [self._making(" --base IMAGE")])

    def _base(self) -> tuple[list[Path], list[str]]:
        lane = quoted(self.lock.lane)
        if self.is_named:
            # It fetches before it removes.
            return [], [f"lanewright image mirror {lane}"]
        kept = kept_folder(self.places, self.digest)
        folders = [kept] if kept.exists() else []
        made = self.made()
        return [*folders, *made], [f"lanewright image base {lane}"] if made else []

    def _making(self, base: str) -> str:
        return f"lanewright image {quoted(self.lock.lane)}{base}"


def _joined(removed: list[Path], steps: list[str]) -> str:
    first = [f"rm -r {' '.join(map(quoted, removed))}"] if removed else []
    return " && ".join([*first, *steps])
