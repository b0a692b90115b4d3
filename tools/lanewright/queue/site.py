"""A lane's tree laid out on disk, for Python to import and for people to read."""

import os
import shutil
import stat
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.queue.pin import Pin
from lanewright.store.companions import companion_paths, companions, damaged
from lanewright.store.git import Repository
from lanewright.store.objects import File, TreeId, blob_id, files, read_blobs
from lanewright.store.safepath import check
from lanewright.store.scratch import making, settle
from lanewright.terminal import stage

LINK = "120000"


@dataclass(frozen=True)
class Difference:
    """One path at which a site is not its tree."""

    path: str
    what: str


def site_folder(places: Places, pin: Pin, tree: TreeId) -> Path:
    """Where the site of a tree is, or will be."""
    machine = os.uname().machine
    return places.sites / f"{tree[:16]}-{pin.distribution}-{pin.version}-{machine}"


def lay_site(places: Places, pin: Pin, tree: TreeId) -> Path:
    """Write a tree's files to disk, with the pin's compiled files linked in beside them.

    The tree's own files are copies, so that an edit by hand harms nothing else; compiled files
    (hundreds of MB) are symlinks to the one place where the release is unpacked. Appears whole or
    not at all; an existing site is taken as it is (``differences`` tells whether it still holds).

    Raises:
        LanewrightError: The disk is full or cannot be written.
        UnsafePathError: A path of the tree would leave it.
    """
    site = site_folder(places, pin, tree)
    if site.exists():
        return site
    for path in files(Repository(places.objects), tree):
        check(path, source=f"tree {tree}")
    beside = companions(places, pin.release)
    try:
        with stage(f"laying out tree {tree[:12]}"), making(places.sites) as scratch:
            _fill(Repository(places.objects), tree, beside, scratch)
            settle(scratch, site)
    except OSError as error:
        raise LanewrightError(f"cannot lay out {site}: {error.strerror}") from error
    return site


def lay_bare(places: Places, tree: TreeId) -> Path:
    """Write a tree's files to disk with nothing beside them, for a lane that runs in its image.

    Nobody imports from it: what is not as the tree has it is laid out again.

    Raises:
        LanewrightError: The disk is full or cannot be written.
        UnsafePathError: A path of the tree would leave it.
    """
    repository = Repository(places.objects)
    listed, site = files(repository, tree), places.sites / f"{tree[:16]}-bare"
    for path in listed:
        check(path, source=f"tree {tree}")
    try:
        there = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if _ends(path)}
        if {name: _file(path) for name, path in there.items()} != listed:
            with making(places.sites) as scratch:
                _fill(repository, tree, None, scratch)
                if site.exists():
                    shutil.rmtree(site)
                settle(scratch, site)
    except OSError as error:
        raise LanewrightError(f"cannot lay out {site}: {error.strerror}") from error
    return site


def _ends(path: Path) -> bool:
    return path.is_symlink() or not path.is_dir()


def _fill(repository: Repository, tree: TreeId, beside: Path | None, site: Path) -> None:
    listed = files(repository, tree)
    contents = read_blobs(repository, [file.blob for file in listed.values()])
    for folder in sorted({site / Path(path).parent for path in listed}):
        folder.mkdir(parents=True, exist_ok=True)
    for path, file in listed.items():
        write_file(site / path, file, contents[file.blob])
    links = companion_links(beside, listed) if beside else {}
    for path, link in links.items():
        target = site / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(link)


def write_file(target: Path, file: File, content: bytes) -> None:
    """Write a tree's file at a place where there is none."""
    if file.mode == LINK:
        target.symlink_to(os.fsdecode(content))
        return
    target.write_bytes(content)
    if file.mode == "100755":
        target.chmod(0o755)


def companion_links(beside: Path, listed: Container[str]) -> dict[str, Path]:
    """What the compiled files' links beside a tree's files lead to, by path.

    Raises:
        LanewrightError: The tree has a file of that name.
    """
    links = {path.as_posix(): beside / path for path in companion_paths(beside)}
    for path in links:
        if path in listed:
            raise LanewrightError(
                f"{path} is compiled, or made when the release is built: no entry may bring it"
            )
    return links


def differences(places: Places, pin: Pin, tree: TreeId) -> list[Difference]:
    """Where the site of a tree is not what it was made as; empty when it still is.

    Every file's content, mode and presence is compared, and every link's target.
    """
    site = site_folder(places, pin, tree)
    listed = files(Repository(places.objects), tree)
    beside = companions(places, pin.release)
    links = {path.as_posix(): str(beside / path) for path in companion_paths(beside)}
    found: list[Difference] = []
    on_disk = {
        Path(folder, name).relative_to(site).as_posix()
        for folder, folders, names in os.walk(site)
        for name in [*names, *(f for f in folders if Path(folder, f).is_symlink())]
    }
    for path in sorted(on_disk | listed.keys() | links.keys()):
        if path not in on_disk:
            found.append(Difference(path, "is missing"))
        elif path in listed:
            if _file(site / path) != listed[path]:
                found.append(Difference(path, "was changed"))
        elif path not in links:
            if not links_to(site / path, beside / path):
                found.append(Difference(path, "was added"))
        elif not (site / path).is_symlink() or str((site / path).readlink()) != links[path]:
            found.append(Difference(path, "is not the release's own file"))
    unpacked = [Difference(str(beside / path), what) for path, what in damaged(beside)]
    return found + unpacked


def links_to(path: Path, target: Path) -> bool:
    """Whether a path is a link to another, be it to a file that is gone."""
    return path.is_symlink() and str(path.readlink()) == str(target)


def _file(path: Path) -> File:
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        mode, content = LINK, os.fsencode(path.readlink())
    elif not stat.S_ISREG(info.st_mode):
        mode, content = "other", b""
    else:
        mode = "100755" if info.st_mode & stat.S_IXUSR else "100644"
        content = path.read_bytes()
    return File(mode, blob_id(content))
