"""A folder that holds one tree of a lane after the other."""

import os
import shutil
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from lanewright.queue.site import companion_links, links_to, write_file
from lanewright.store.git import Repository
from lanewright.store.objects import File, TreeId, files, folders, read_blobs
from lanewright.store.safepath import check

Stamp = tuple[int, ...]


@dataclass
class MovingSite:
    """A site that is taken from one tree to the next.

    Only what differs is written, and whatever else was changed, added or removed there meanwhile
    is put right, so that nothing of one tree is left in the next.

    Attributes:
        folder: Where it is.
        repository: The store.
        beside: The release's companions.
        written: What each file was when it was written, and how the disk showed it.
        clock: Time that the last files were given, in seconds. It differs from tree to tree, as
            Python tells a compiled file that is out of date by whole seconds and size alone.
    """

    folder: Path
    repository: Repository
    beside: Path
    written: dict[str, tuple[File, Stamp]] = field(default_factory=dict)
    clock: int = 0

    def hold(self, tree: TreeId) -> None:
        """Make the folder that of a tree.

        Raises:
            LanewrightError: The tree has a file in the place of a compiled one.
            UnsafePathError: A path of the tree would leave the folder.
            OSError: The disk is full or cannot be written.
        """
        listed = files(self.repository, tree)
        for path in listed:
            check(path, source=f"tree {tree}")
        links = companion_links(self.beside, listed)
        self.folder.mkdir(exist_ok=True)
        self._sweep(listed.keys() | links.keys())
        moved = {path: file for path, file in listed.items() if not self._is_there(path, file)}
        contents = read_blobs(self.repository, [file.blob for file in moved.values()])
        self.clock = max(int(time.time()), self.clock + 1)
        for path, file in moved.items():
            target = self._cleared(path)
            write_file(target, file, contents[file.blob])
            os.utime(target, (self.clock, self.clock), follow_symlinks=False)
            self.written[path] = (file, _stamp(target))
        for path, link in links.items():
            if not links_to(self.folder / path, link):
                self._cleared(path).symlink_to(link)

    def _is_there(self, path: str, file: File) -> bool:
        target = self.folder / path
        return os.path.lexists(target) and self.written.get(path) == (file, _stamp(target))

    def _cleared(self, path: str) -> Path:
        """A place in its folder with nothing at it."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        return target

    def _sweep(self, wanted: Collection[str]) -> None:
        """Remove all that is none of these files and no folder of one."""
        above = {folder for path in wanted for folder in folders(path)}
        for place, inside, names in os.walk(self.folder):
            here = Path(place)
            for name in [*inside, *names]:
                path, is_folder = here / name, name in inside and not (here / name).is_symlink()
                if path.relative_to(self.folder).as_posix() in (above if is_folder else wanted):
                    continue
                if is_folder:
                    shutil.rmtree(path)
                else:
                    path.unlink()
            inside[:] = [name for name in inside if (here / name).is_dir()]


def _stamp(path: Path) -> Stamp:
    info = path.lstat()
    return (info.st_ino, info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
